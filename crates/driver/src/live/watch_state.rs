//! Whether the file of a handle's settings is watched.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether the file of a handle's settings is watched: what the handle, its watches and observers share.
#[derive(Debug, Default)]
pub(crate) struct WatchState {
    /// Whether a file was ever watched.
    has_file: AtomicBool,
    /// How many watches can read their file now: one at most, except for the moment in which another takes its place.
    working: AtomicUsize,
}

impl WatchState {
    /// Whether the file is watched and can be read; `None`: there is no file.
    pub(crate) fn is_watched(&self) -> Option<bool> {
        let is_watched = || self.working.load(Ordering::Relaxed) > 0;
        self.has_file.load(Ordering::Relaxed).then(is_watched)
    }
}

/// A watch that can read its file, until this is dropped.
#[cfg(feature = "watch")]
pub(super) struct Working(std::sync::Arc<WatchState>);

#[cfg(feature = "watch")]
impl Working {
    pub(super) fn new(state: std::sync::Arc<WatchState>) -> Self {
        state.has_file.store(true, Ordering::Relaxed);
        state.working.fetch_add(1, Ordering::Relaxed);
        Self(state)
    }
}

#[cfg(feature = "watch")]
impl Drop for Working {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::Relaxed);
    }
}
