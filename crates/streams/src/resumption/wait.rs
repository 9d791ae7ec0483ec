//! How long a stream may keep its caller waiting.

use gax_driver::__private::Clock;
use std::time::Duration;
use tokio::time::Instant;

/// gax-java's wait timeout, exact: it runs while the caller waits for a message, and starts again with each message and each
/// attempt. A message that comes at its end is in time: so the clock has to be past that moment.
#[derive(Debug, Default)]
pub(crate) struct WaitTimeout {
    timeout: Option<Duration>,
    ends_at: Option<Instant>,
}

impl WaitTimeout {
    pub(crate) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, ends_at: None }
    }

    /// Nobody waits: a message was delivered, or no attempt is in flight.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.ends_at = None;
    }

    /// The caller waits. If it has done so for too long, this is when that was so, counted from the operation's start.
    #[inline]
    pub(crate) fn over(&mut self, clock: Clock) -> Option<Duration> {
        self.check(clock, self.timeout?)
    }

    fn check(&mut self, clock: Clock, timeout: Duration) -> Option<Duration> {
        let (now, elapsed) = clock.now();
        let Some(end) = self.ends_at else {
            self.ends_at = now.checked_add(timeout);
            return None;
        };
        (now > end).then(|| elapsed.saturating_sub(now.saturating_duration_since(end)))
    }

    /// When to look whether it is over.
    #[inline]
    pub(crate) fn due(&self) -> Option<Instant> {
        self.ends_at.and_then(|end| end.checked_add(Duration::from_nanos(1)))
    }
}
