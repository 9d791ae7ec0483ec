//! How long the last calls of a method took.

use crate::nanos::{FOREVER, nanos};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many calls are remembered.
const WINDOW: usize = 128;
/// With fewer than that there is no percentile to speak of.
pub(super) const ENOUGH: u64 = 20;
/// After how many calls the percentile is worked out again.
const EVERY: u64 = 8;

/// A percentile of the latencies of the last calls. Calls write and read it without a lock: a write that gets lost
/// between two threads is one call that was not counted.
pub(super) struct Latencies {
    percentile: f64,
    /// How many calls have been counted.
    count: AtomicU64,
    /// Their latencies in nanoseconds, the last ones.
    last: [AtomicU64; WINDOW],
    /// The percentile as it was last worked out; [`FOREVER`]: too few calls are known.
    current: AtomicU64,
}

impl Latencies {
    pub(super) fn new(percentile: f64) -> Self {
        Self {
            percentile,
            count: AtomicU64::new(0),
            last: [const { AtomicU64::new(0) }; WINDOW],
            current: AtomicU64::new(FOREVER),
        }
    }

    /// Returns whether they are for the same percentile.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.percentile.to_bits() == other.percentile.to_bits()
    }

    /// A call took so long.
    pub(super) fn record(&self, latency: Duration) {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let place = usize::try_from(count % WINDOW as u64).unwrap_or_default();
        if let Some(slot) = self.last.get(place) {
            slot.store(nanos(latency), Ordering::Relaxed);
        }
        let known = count.saturating_add(1);
        if known >= ENOUGH && known.is_multiple_of(EVERY) || known == ENOUGH {
            self.current.store(self.work_out(known), Ordering::Relaxed);
        }
    }

    /// The percentile; `None`: too few calls are known.
    pub(super) fn percentile(&self) -> Option<Duration> {
        let current = self.current.load(Ordering::Relaxed);
        (current != FOREVER).then(|| Duration::from_nanos(current))
    }

    /// The smallest latency that so large a part of the calls did not exceed.
    fn work_out(&self, known: u64) -> u64 {
        let known = usize::try_from(known).unwrap_or(WINDOW).min(WINDOW);
        let mut latencies: Vec<u64> =
            self.last.iter().take(known).map(|slot| slot.load(Ordering::Relaxed)).collect();
        latencies.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a part of a number up to 128"
        )]
        let rank = (self.percentile * known as f64).ceil() as usize;
        latencies.get(rank.saturating_sub(1)).copied().unwrap_or(FOREVER)
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { percentile, count, .. } = self;
        f.debug_struct("Latencies")
            .field("percentile", percentile)
            .field("count", count)
            .field("current", &self.percentile())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn too_few_calls_make_no_percentile() {
        let latencies = Latencies::new(0.95);
        for _ in 0..19 {
            latencies.record(MS);
        }
        assert_eq!(latencies.percentile(), None);
        latencies.record(MS);
        assert_eq!(latencies.percentile(), Some(MS));
    }

    #[test]
    fn it_is_the_latency_that_so_many_calls_did_not_exceed() {
        for (percentile, expected) in [(0.5, 64), (0.95, 122), (0.99, 127), (0.001, 1)] {
            let latencies = Latencies::new(percentile);
            (1..=128).rev().for_each(|ms| latencies.record(ms * MS));
            assert_eq!(latencies.percentile(), Some(expected * MS), "{percentile}");
        }
    }

    #[test]
    fn calls_of_long_ago_are_forgotten() {
        let latencies = Latencies::new(0.95);
        (0..500).for_each(|_| latencies.record(900 * MS));
        (0..128).for_each(|_| latencies.record(2 * MS));
        assert_eq!(latencies.percentile(), Some(2 * MS));
    }
}
