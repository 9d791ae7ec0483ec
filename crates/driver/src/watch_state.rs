//! Whether the file of a handle's settings is watched.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether the file of a handle's settings is watched: what the handle, its watches and observers share.
#[derive(Debug, Default)]
pub(crate) struct WatchState {
    /// Whether a file was ever watched.
    pub(crate) has_file: AtomicBool,
    /// How many watches can read their file now: one at most, except for the moment in which another takes its place.
    pub(crate) working: AtomicUsize,
}

impl WatchState {
    /// Whether the file is watched and can be read; `None`: there is no file.
    pub(crate) fn is_watched(&self) -> Option<bool> {
        let is_watched = || self.working.load(Ordering::Relaxed) > 0;
        self.has_file.load(Ordering::Relaxed).then(is_watched)
    }
}
