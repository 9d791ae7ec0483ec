//! Which random numbers an operation draws.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use gax_retry::jitter::{JitterSource, SeededJitter};
use gax_retry::{NoJitter, ThreadJitter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The source of one operation's jitter.
#[derive(Debug, Default)]
pub enum Jitter {
    /// The calling thread's own generator.
    #[default]
    Thread,
    /// A sequence that a seed repeats.
    Seeded(Box<SeededJitter>),
    /// None: every wait is the whole delay.
    Off,
}

impl JitterSource for Jitter {
    fn is_random(&self) -> bool {
        !matches!(self, Jitter::Off)
    }

    fn next_u64(&mut self) -> u64 {
        match self {
            Jitter::Thread => ThreadJitter.next_u64(),
            Jitter::Seeded(sequence) => sequence.next_u64(),
            Jitter::Off => NoJitter.next_u64(),
        }
    }
}

/// Hands every operation of a client its source: its own thread's, or, where a seed was set, the sequence of
/// the seed plus the operation's number.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum JitterSeeds {
    #[default]
    Threads,
    Next(Arc<AtomicU64>),
    Off,
}

impl JitterSeeds {
    #[must_use]
    pub fn from(seed: u64) -> Self {
        Self::Next(Arc::new(AtomicU64::new(seed)))
    }

    #[inline]
    #[must_use]
    pub fn next(&self) -> Jitter {
        match self {
            JitterSeeds::Threads => Jitter::Thread,
            JitterSeeds::Off => Jitter::Off,
            JitterSeeds::Next(next) => Self::seeded(next),
        }
    }

    #[cold]
    fn seeded(next: &AtomicU64) -> Jitter {
        Jitter::Seeded(Box::new(SeededJitter::new(next.fetch_add(1, Ordering::Relaxed))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_a_seed_draw_apart_and_again_the_same() {
        let draws = |seed| -> Vec<u64> {
            let seeds = JitterSeeds::from(seed);
            (0..3).map(|_| seeds.next().next_u64()).collect()
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7)[0], draws(7)[1]);
        assert_eq!(draws(7)[1], draws(8)[0]);
    }
}
