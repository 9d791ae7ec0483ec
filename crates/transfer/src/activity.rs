//! How far a request in flight has come.

use gax_driver::__private::{Clock, Locked};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;
use tokio::time::Instant;

/// How far a connection has taken the bytes of an object that a request has, and when it took something last. The connection runs
/// in a separate task, and wakes that of the transfer.
#[derive(Debug)]
pub(super) struct Activity {
    clock: Clock,
    /// When something happened last, in nanoseconds of the clock.
    last: AtomicU64,
    /// The place behind the last byte of the object that was taken.
    place: AtomicU64,
    waker: Locked<Option<Waker>>,
}

impl Activity {
    pub(super) fn begin(clock: Clock) -> Arc<Self> {
        let activity =
            Self { clock, last: AtomicU64::new(0), place: AtomicU64::new(0), waker: Locked::default() };
        activity.touch();
        Arc::new(activity)
    }

    /// Something has happened.
    pub(super) fn touch(&self) {
        let now = u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    /// Something was sent, of the object up to that place.
    pub(super) fn sent(&self, place: u64) {
        self.place.store(place, Ordering::Relaxed);
        self.touch();
        if let Some(waker) = self.waker.change(Option::take) {
            waker.wake();
        }
    }

    /// The place up to which the object was sent by this request.
    pub(super) fn place(&self) -> u64 {
        self.place.load(Ordering::Relaxed)
    }

    /// Wakes that task when something happens.
    pub(super) fn wake(&self, waker: &Waker) {
        *self.waker.lock() = Some(waker.clone());
    }

    /// The moment at which nothing has happened for so long.
    pub(super) fn idle_at(&self, timeout: Duration) -> Option<Instant> {
        let last = Duration::from_nanos(self.last.load(Ordering::Relaxed));
        self.clock.at(last.saturating_add(timeout))
    }

    /// Returns whether that moment has come.
    pub(super) fn is_idle(&self, timeout: Duration) -> bool {
        self.idle_at(timeout).is_some_and(|moment| self.clock.has_reached(moment))
    }
}
