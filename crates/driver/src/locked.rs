//! A lock that panics don't poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value behind a lock. If a thread panics while it holds the lock, others still get the value.
#[derive(Debug, Default)]
pub struct Locked<T: ?Sized>(Mutex<T>);

impl<T> Locked<T> {
    /// Around that value.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// The value, for as long as the guard is held.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, without a lock.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the value, or changes it.
    #[inline]
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.lock())
    }
}
