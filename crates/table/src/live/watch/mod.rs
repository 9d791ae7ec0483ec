//! Settings that follow a file.

mod folders;
mod watcher;

pub use watcher::{Watch, watch};
