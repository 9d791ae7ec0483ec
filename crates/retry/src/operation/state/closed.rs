//! Connections that our own stack closed under the attempts of an operation.
//!
//! A server that breaks the rules with one response can cost the whole connection, and every request on it gets the same
//! error: nothing in it says whose response it was. So all of them are retried, far enough apart that those who did no harm
//! are not hit again together. Only an attempt that was alone on its connection is known to be the reason, and only the
//! connection knows that.

use crate::jitter::{JitterSource, uniform};
use crate::nanos::{FOREVER, after, remaining};

/// The back-off that the spread is worked out from, at least: 100 ms in nanoseconds.
const MIN_BACKOFF: u64 = 100_000_000;

/// The wait after an attempt that took so long: as it was, and a draw on top, whether waits are jittered or not. It leaves the
/// next attempt at least half of the time until `limit`. All in nanoseconds.
pub(super) fn spread(wait: u64, took: u64, now: u64, limit: u64, mut jitter: &mut dyn JitterSource) -> u64 {
    if !jitter.is_random() {
        return wait;
    }
    let most = wait.max(MIN_BACKOFF).saturating_mul(3).max(took.saturating_mul(10));
    let most = if limit == FOREVER { most } else { most.min(remaining(limit, after(now, wait)) / 2) };
    after(wait, uniform(0, most, &mut jitter))
}
