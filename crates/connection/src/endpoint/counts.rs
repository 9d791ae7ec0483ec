//! The counts of an endpoint, across its connections, and the end of one.

use gax_driver::observe::LostReason;
use gax_wire::__private::chain;
use std::error::Error;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;

/// The counts of an endpoint, across its connections.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Calls in a row that failed.
    failures: AtomicU32,
    /// Connections in a row that were given up because the server was silent.
    renewals: AtomicU32,
    /// How often the keep-alive interval was doubled.
    doublings: AtomicU32,
}

impl Counts {
    /// A call has failed. Returns how many have in a row.
    pub(crate) fn fail(&self) -> u32 {
        self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// A call has succeeded, or an endpoint was ejected for those that had failed.
    pub(crate) fn reset(&self) {
        if self.failures.load(Ordering::Relaxed) > 0 {
            self.failures.store(0, Ordering::Relaxed);
        }
    }

    pub(crate) fn renewals(&self) -> u32 {
        self.renewals.load(Ordering::Relaxed)
    }

    /// A connection is given up because the server is silent: the first in a long time, or one more.
    pub(crate) fn renew(&self, is_first: bool) {
        let before = if is_first { 0 } else { self.renewals() };
        self.renewals.store(before.saturating_add(1).min(64), Ordering::Relaxed);
    }

    /// Looks at the error of a connection or of a call over it, for a server that finds too many pings. It is counted once a
    /// connection: all its calls are notified.
    pub(crate) fn learn_from(&self, error: &hyper::Error, end: &EndSignal) {
        let is_too_many_pings =
            chain(error).filter_map(<dyn Error>::downcast_ref::<h2::Error>).any(|error| {
                error.is_go_away()
                    && error.is_remote()
                    && error.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM)
                    && is_of_pings(&error.to_string())
            });
        if is_too_many_pings && end.hear_of_pings() {
            self.doublings.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// By what the keep-alive interval is multiplied.
    pub(crate) fn keep_alive_factor(&self) -> u32 {
        1_u32.checked_shl(self.doublings.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }
}

/// Returns whether the text of a `GOAWAY` speaks of pings, or of nothing: clients have to be calm about other things too. Only the text has the
/// frame's data, in parentheses.
fn is_of_pings(text: &str) -> bool {
    text.contains("too_many_pings") || !text.ends_with(')')
}

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
