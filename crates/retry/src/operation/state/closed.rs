//! Connections that our own stack closed under the attempts of an operation.
//!
//! A server that breaks the rules with one response can cost the whole connection, and every request on it gets the same
//! error: nothing in it says whose response it was. So all of them are retried, far enough apart that those who did no harm
//! are not hit again together, and an operation that is hit time and again is taken for the reason.

use crate::jitter::{JitterSource, uniform};
use crate::nanos::{FOREVER, after, remaining};

/// How many such ends in a row may be the doing of others.
const MOST: u8 = 2;

/// The back-off that the spread is worked out from, at least: 100 ms in nanoseconds.
const LEAST_BACKOFF: u64 = 100_000_000;

/// The ends of that kind in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Closed {
    count: u8,
    /// How many attempts had been started at the last one: those in flight share a connection, and end at one moment.
    started: u32,
}

impl Closed {
    /// An attempt of so many has ended, that way or another one.
    pub(super) fn ended(&mut self, is_closed: bool, started: u32) {
        if !is_closed {
            *self = Self::default();
        } else if self.is_new(started) {
            *self = Self { count: self.count.saturating_add(1), started };
        }
    }

    /// Whether the wait before the attempt that is due was [spread](spread).
    pub(super) fn has_spread(self) -> bool {
        self.count > 0
    }

    /// Whether one more such end, of one of so many attempts, is one too many.
    pub(super) fn is_culprit(self, started: u32) -> bool {
        self.count >= MOST && self.is_new(started)
    }

    fn is_new(self, started: u32) -> bool {
        self.count == 0 || self.started != started
    }
}

/// The wait after an attempt that took so long: as it was, and a draw on top, whether waits are jittered or not. It leaves the
/// next attempt at least half of the time until `limit`. All in nanoseconds.
pub(super) fn spread(wait: u64, took: u64, now: u64, limit: u64, mut jitter: &mut dyn JitterSource) -> u64 {
    if !jitter.is_random() {
        return wait;
    }
    let most = wait.max(LEAST_BACKOFF).saturating_mul(3).max(took.saturating_mul(10));
    let most = if limit == FOREVER { most } else { most.min(remaining(limit, after(now, wait)) / 2) };
    after(wait, uniform(0, most, &mut jitter))
}
