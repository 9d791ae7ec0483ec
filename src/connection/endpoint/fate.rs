//! The end of a connection.

use crate::operation::LostReason;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// Whether a connection takes calls, and why it doesn't.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    reason: OnceLock<LostReason>,
    is_over: AtomicBool,
    /// Whether the server has said that there were too many pings.
    is_blamed: AtomicBool,
    over: CancellationToken,
}

impl Fate {
    /// It takes no calls from now on. The first reason counts.
    pub(crate) fn end(&self, reason: LostReason) {
        if self.reason.set(reason).is_ok() {
            self.is_over.store(true, Ordering::Release);
            self.over.cancel();
        }
    }

    /// The server has said that there were too many pings. Returns whether that is news: all its calls hear of it.
    pub(crate) fn take_blame(&self) -> bool {
        !self.is_blamed.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Waits until it takes no calls, and says why.
    pub(crate) async fn ended(&self) -> &LostReason {
        self.over.cancelled().await;
        self.reason.get_or_init(|| LostReason::Closed)
    }

    pub(crate) fn reason(&self) -> Option<&LostReason> {
        self.reason.get()
    }
}
