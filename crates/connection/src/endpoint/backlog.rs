//! The calls that wait for a stream, as the connections see them.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// How many calls wait in the pool, and the bell that says that one of them may go.
///
/// A call that is about to wait counts itself before it looks for a stream again, and a stream is free before its call looks here: one
/// of the two sees the other.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: AtomicUsize,
    freed: Notify,
}

impl Backlog {
    pub(crate) fn set(&self, waiting: usize) {
        self.waiting.store(waiting, Ordering::SeqCst);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0
    }

    /// A stream is free, or may be.
    pub(super) fn free(&self) {
        if !self.is_empty() {
            self.freed.notify_one();
        }
    }

    /// Waits until a stream may be free for a call that waits.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}
