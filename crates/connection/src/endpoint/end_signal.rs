//! The end of a connection.

use gax_driver::observe::LostReason;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// Says whether a connection takes calls, and why it doesn't.
#[derive(Debug, Default)]
pub(crate) struct EndSignal {
    reason: OnceLock<LostReason>,
    /// `true` if the server has said that there were too many pings.
    had_too_many_pings: AtomicBool,
    ended: CancellationToken,
}

impl EndSignal {
    /// It takes no calls from now on. The first reason counts.
    pub(crate) fn end(&self, reason: LostReason) {
        if self.reason.set(reason).is_ok() {
            self.ended.cancel();
        }
    }

    /// The server has said that there were too many pings. Returns whether this is the first time; all its calls are
    /// notified.
    pub(crate) fn hear_of_pings(&self) -> bool {
        !self.had_too_many_pings.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.reason.get().is_some()
    }

    /// Waits until it takes no calls.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    pub(crate) fn reason(&self) -> Option<&LostReason> {
        self.reason.get()
    }
}
