//! How far a request in flight has come.

use gax_driver::__house::Clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;
use tokio::time::Instant;

/// The bytes of a request's body that its connection has taken, and when it took the last of them. The connection runs in a
/// separate task, and wakes that of the transfer.
#[derive(Debug)]
pub(super) struct Activity {
    clock: Clock,
    /// When something happened last, in nanoseconds of the clock.
    last: AtomicU64,
    bytes: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Activity {
    pub(super) fn begin(clock: Clock) -> Arc<Self> {
        let activity =
            Self { clock, last: AtomicU64::new(0), bytes: AtomicU64::new(0), waker: Mutex::default() };
        activity.touch();
        Arc::new(activity)
    }

    /// Something has happened.
    pub(super) fn touch(&self) {
        let now = u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    /// These many bytes have been sent.
    pub(super) fn sent(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.touch();
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The bytes that have been sent so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Wakes that task when something happens.
    pub(super) fn wake(&self, waker: &Waker) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker.clone());
    }

    /// The moment at which nothing has happened for so long.
    pub(super) fn idle_at(&self, timeout: Duration) -> Option<Instant> {
        let last = Duration::from_nanos(self.last.load(Ordering::Relaxed));
        self.clock.at(last.saturating_add(timeout))
    }

    /// Whether that moment has come.
    pub(super) fn is_idle(&self, timeout: Duration) -> bool {
        self.idle_at(timeout).is_some_and(|moment| self.clock.has_reached(moment))
    }
}
