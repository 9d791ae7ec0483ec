//! What no compiler checks of the repository: the order of a crate's modules, the links of its pages, and that examples can be copied.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]

mod links;
mod order;
mod pages;
mod texts;

use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

const NOTHING: [String; 0] = [];
