//! Polling for the end of a long-running operation.

use super::{Algorithm, Limit, Next, RawSettings, deadline, millis};
use crate::StopReason;
use crate::jitter::JitterSource;
use std::time::Duration;

/// How a long-running operation is polled: the exponential algorithm with the *polling* settings.
///
/// Attempt 0 is the initial call (or, if that is done before the poller first looks, a poll
/// without delay). Its clock starts when the initial call is sent. Polling continues while a poll
/// succeeds with "not done"; an error ends the operation. Unlike a retry, a poll that lands exactly on
/// the total timeout, or less than 1 ms beyond, is still made.
///
/// # Examples
///
/// ```
/// use gax_retry::NoJitter;
/// use gax_retry::gax_java::{Polling, RawSettings};
/// use std::time::Duration;
///
/// let mut settings = RawSettings::default();
/// settings.initial_retry_delay_us = 5_000_000;
/// settings.retry_delay_multiplier = 1.5;
/// settings.max_retry_delay_us = 45_000_000;
/// settings.total_timeout_us = 300_000_000;
/// let polling = Polling::new(&settings);
/// let mut operation = polling.begin();
/// let first = polling.not_done(&mut operation, Duration::ZERO, &mut NoJitter)?;
/// assert_eq!((first.wait(), first.rpc_timeout()), (Duration::from_secs(5), None));
/// let second = polling.not_done(&mut operation, first.wait(), &mut NoJitter)?;
/// assert_eq!(second.wait(), Duration::from_millis(7500));
/// # Ok::<(), gax_retry::StopReason>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Polling {
    algorithm: Algorithm,
    call_timeout: Option<Duration>,
}

impl Polling {
    /// Polls by those settings. The retry settings of the polling method play no part in it.
    pub fn new(settings: &RawSettings) -> Self {
        Self { algorithm: Algorithm::new(settings), call_timeout: None }
    }

    /// The timeout of the caller's context, which bounds the initial call and every poll. Zero is none.
    pub fn with_call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout).filter(|timeout| !timeout.is_zero());
        self
    }

    /// The timeout of the initial call, if the caller's context sets one.
    #[must_use]
    pub fn call_timeout(&self) -> Option<Duration> {
        self.call_timeout
    }

    /// A new operation: its initial call is sent now.
    #[must_use]
    pub fn begin(&self) -> PollOperation {
        PollOperation { count: 0, last: self.algorithm.first() }
    }

    /// The poll that is attempt 0, for an initial call that was done before the poller's first look.
    #[must_use]
    pub fn at_once(&self) -> Poll {
        self.poll(Duration::ZERO, self.algorithm.first_timeout())
    }

    /// The poll that follows a reply of "not done", which came `now` after the operation's start.
    ///
    /// # Errors
    ///
    /// The limit that is reached. Java cancels the operation's future then; the server is not notified.
    pub fn not_done(
        &self,
        operation: &mut PollOperation,
        now: Duration,
        jitter: &mut impl JitterSource,
    ) -> Result<Poll, StopReason> {
        let elapsed = now.as_nanos().cast_signed();
        let next = self.algorithm.next(operation.count, operation.last, elapsed, jitter);
        operation.count = operation.count.saturating_add(1);
        operation.last = next;
        match self.algorithm.limit(operation.count, next, elapsed, 0) {
            None => Ok(self.poll(millis(next.wait), i128::from(next.timeout) * 1_000_000)),
            Some(Limit::NoLimits) => Err(StopReason::NoLimits),
            Some(Limit::TotalTimeout | Limit::Overflow) => Err(StopReason::TotalTimeout),
            Some(Limit::MaxAttempts) => Err(StopReason::MaxAttempts),
        }
    }

    /// The shorter of the two timeouts counts: a context's timeout can't be made longer.
    fn poll(&self, wait: Duration, timeout_nanos: i128) -> Poll {
        let own = deadline(timeout_nanos);
        let rpc_timeout = match (own, self.call_timeout) {
            (Some(own), Some(call)) => Some(own.min(call)),
            (own, call) => own.or(call),
        };
        Poll { wait, rpc_timeout }
    }
}

/// How far the polling of one operation has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollOperation {
    count: u32,
    last: Next,
}

/// One poll to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    wait: Duration,
    rpc_timeout: Option<Duration>,
}

impl Poll {
    gax_text::getters! { move self:
        /// How long to wait before it.
        pub wait: Duration = self.wait;

        /// Its RPC timeout; `None` leaves it the polling method's own.
        pub rpc_timeout: Option<Duration> = self.rpc_timeout;
    }
}
