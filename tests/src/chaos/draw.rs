//! Numbers and choices, drawn from a seed.

use gax_retry::jitter::{JitterSource as _, SeededJitter};
use std::time::Duration;

/// A sequence of draws, the same for the same seed on every machine.
#[derive(Debug, Clone)]
pub struct Draw {
    source: SeededJitter,
}

impl Draw {
    /// The sequence of that seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { source: SeededJitter::new(seed) }
    }

    /// A number below that one, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.source.next_u64() % end
    }

    /// A number from the first to the last, both included.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// Like [`between`](Self::between), as a small number.
    pub fn small(&mut self, first: u32, last: u32) -> u32 {
        u32::try_from(self.between(first.into(), last.into())).unwrap()
    }

    /// True in so many of a hundred draws.
    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// That value in so many of a hundred draws.
    pub fn sometimes<T>(&mut self, share: u64, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.percent(share) { Some(value(self)) } else { None }
    }

    /// One of these, which must not be none.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let place = self.below(of.len() as u64);
        of[usize::try_from(place).unwrap()]
    }

    /// So many milliseconds, both ends included.
    pub fn ms(&mut self, first: u64, last: u64) -> Duration {
        Duration::from_millis(self.between(first, last))
    }

    /// Another sequence, which goes on by itself.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::new(self.source.next_u64())
    }
}
