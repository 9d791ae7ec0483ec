//! A watch that can read its file.

use gax_driver::__private::WatchState;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A watch that can read its file, until this is dropped.
pub(super) struct Working(Arc<WatchState>);

impl Working {
    pub(super) fn new(state: Arc<WatchState>) -> Self {
        state.has_file.store(true, Ordering::Relaxed);
        state.working.fetch_add(1, Ordering::Relaxed);
        Self(state)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::Relaxed);
    }
}
