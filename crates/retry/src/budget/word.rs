//! A word that threads share.

use std::sync::atomic::{AtomicU64, Ordering};

/// The atomic that budgets need: std's, or in the test that tries all orders of threads loom's.
pub(super) trait Word {
    fn new(value: u64) -> Self;

    fn load(&self) -> u64;

    /// Replaces `current`, if it is still there.
    ///
    /// # Errors
    ///
    /// The value that is there in its place, or `current` where it could not be replaced by chance.
    fn replace(&self, current: u64, new: u64) -> Result<(), u64>;

    /// Changes the word; `None` leaves it as it is. Returns what it was made.
    fn update(&self, change: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let mut current = self.load();
        loop {
            let new = change(current)?;
            match self.replace(current, new) {
                Ok(()) => return Some(new),
                Err(other) => current = other,
            }
        }
    }
}

impl Word for AtomicU64 {
    fn new(value: u64) -> Self {
        AtomicU64::new(value)
    }

    fn load(&self) -> u64 {
        AtomicU64::load(self, Ordering::Relaxed)
    }

    fn replace(&self, current: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange_weak(current, new, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
    }
}
