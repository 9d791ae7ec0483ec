//! Data that some tests compare with and the repository doesn't have (CONTRIBUTING.md lists it): where it is looked for, and how
//! a test says that it can't find it. The package `tonic-gax-optional-data` has it for the tests of others.
#![allow(unreachable_pub, reason = "public there")]

use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder of optional data, if it has this file or folder: the one that `TONIC_GAX_SHARED` names, or else `../shared`
/// beside the clone. If it doesn't, the test is skipped, and stderr says so.
#[must_use]
pub fn shared_with(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("TONIC_GAX_SHARED").map_or_else(beside, PathBuf::from);
    if shared.join(path).exists() {
        return Some(shared);
    }
    skipped(&format_args!("no {path} to test with (set TONIC_GAX_SHARED to the folder that has it)"));
    None
}

/// Says that a test, or the rest of it, is skipped, and why. What `eprintln!` prints is shown only if the test fails; this is
/// shown in any case.
pub fn skipped(why: &dyn Display) {
    // In one piece, so that the lines of two tests don't mix.
    let line = format!("skipped: {why}\n");
    // Where stderr is closed, nobody listens.
    drop(std::io::stderr().write_all(line.as_bytes()));
}
