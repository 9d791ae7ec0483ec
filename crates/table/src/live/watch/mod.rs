//! Settings that follow a file.

mod folders;
mod watcher;
mod working;

pub use watcher::{Watch, watch};
