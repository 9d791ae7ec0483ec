//! The state of the watch of a file of live settings.
#![expect(clippy::exhaustive_structs, reason = "our own crates change it")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The state of the watch of a file of live settings, which the settings, their watches and observers share.
#[derive(Debug, Default)]
pub struct WatchState {
    /// `true` if a file was ever watched.
    pub has_file: AtomicBool,
    /// How many watches can read their file now: one at most, except for the moment in which another takes its place.
    pub working: AtomicUsize,
}

impl WatchState {
    /// Returns whether the file is watched and can be read; `None`: there is no file.
    #[must_use]
    pub fn is_watched(&self) -> Option<bool> {
        let is_watched = || self.working.load(Ordering::Relaxed) > 0;
        self.has_file.load(Ordering::Relaxed).then(is_watched)
    }
}
