//! The contents of the packages: nothing needless, and enough to compile, test and document them.

use crate::Failure;
use crate::machine::{Machine, output};
use crate::registry::Package;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Files and folders that may be at the top of a package. Integration tests and the guide are not for users.
const ALLOWED: [&str; 12] = [
    ".cargo_vcs_info.json",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "build.rs",
    "proto",
    "schema",
    "src",
];
/// Files that each package has.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// The folder of a package, unpacked outside the workspace.
pub(crate) fn unpack(machine: &Machine, package: &Package) -> Result<PathBuf, Failure> {
    let name = format!("{}-{}", package.name, package.version);
    let folder = machine.folder("packages");
    fs::create_dir_all(&folder)?;
    let archive = format!("{name}.crate");
    fs::write(folder.join(&archive), &package.archive)?;
    output(Command::new("tar").args(["-xzf", &archive]).current_dir(&folder))?;
    Ok(folder.join(name))
}

/// Fails if a package lacks a file, or has files that its users don't need. Returns how many files and bytes they have.
pub(crate) fn only_what_users_need(folders: &[PathBuf]) -> Result<String, Failure> {
    let (mut wrong, mut sizes) = (Vec::new(), Vec::new());
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        for needless in names.iter().filter(|name| !ALLOWED.contains(&&***name)) {
            wrong.push(format!("{name} has {needless}, which its users don't need"));
        }
        for missing in NEEDED.iter().filter(|needed| !names.iter().any(|name| name == *needed)) {
            wrong.push(format!("{name} has no {missing}"));
        }
        let archive = folder.with_file_name(format!("{name}.crate"));
        sizes.push(format!("{name} {} KiB", fs::metadata(archive)?.len().div_ceil(1024)));
    }
    if wrong.is_empty() { Ok(sizes.join(", ")) } else { Err(wrong.join("\n").into()) }
}

/// Compiles all that a package has, with all features, by its own lock file.
pub(crate) fn check(machine: &Machine, folder: &Path) -> Result<String, Failure> {
    output(machine.cargo(folder).args(["check", "--locked", "--all-features", "--all-targets"]))
}

/// The real `rustdoc`, for the process that this program is started as in its place.
pub(crate) const RUSTDOC: &str = "REHEARSAL_RUSTDOC";

/// Documents a package as docs.rs does: with all features, and the badges that only a nightly compiler has.
pub(crate) fn document(machine: &Machine, folder: &Path) -> Result<String, Failure> {
    let mut doc = machine.cargo(folder);
    let rustdoc = std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    doc.env("RUSTDOC", std::env::current_exe()?)
        .env(RUSTDOC, rustdoc)
        .env("RUSTDOCFLAGS", "--cfg docsrs -D warnings");
    output(doc.args(["doc", "--locked", "--all-features", "--no-deps"]))
}

/// `rustdoc` with the features of a nightly compiler. In the environment of cargo the variable would have all crates compiled
/// again.
pub(crate) fn rustdoc(rustdoc: &OsStr) -> ExitCode {
    let status = Command::new(rustdoc).args(std::env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").status();
    if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
