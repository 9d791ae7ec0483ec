//! One rule set: its questions and its replies.

use crate::jitter::JitterSource;
use crate::started_attempt::Next;
use crate::{ServerDelay, StopReason};
use std::time::Duration;

/// One way to turn settings into attempts. An operation's progress through them is kept outside, so that one
/// set serves all operations. Times are nanoseconds since the operation's start.
pub(crate) trait RuleSet {
    /// How far back-off has come, in the rule set's own terms.
    type Progress;

    fn begin(&self) -> Self::Progress;

    /// The RPC timeout of an attempt that starts `now`; [`FOREVER`](crate::nanos::FOREVER) means no deadline. `bound` is the caller's own
    /// deadline.
    fn start(
        &self,
        progress: &mut Self::Progress,
        is_first: bool,
        now: u64,
        bound: u64,
    ) -> Result<u64, Refusal>;

    /// The wait before the attempt that follows one which just ended and is to be retried.
    fn next(
        &self,
        progress: &mut Self::Progress,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal>;

    /// The wait before the next poll, after a reply which said that what was asked for is not done. Polls have a progress of
    /// their own, apart from that of retries.
    fn poll_next(
        &self,
        progress: &mut Self::Progress,
        next: Next,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        match next {
            Next::Now => Ok(Wait(0)),
            Next::Later => self.poll_later(progress, ask, jitter),
        }
    }

    /// The wait before a poll that has no reason to come immediately: like that of a retry, unless said.
    fn poll_later(
        &self,
        progress: &mut Self::Progress,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        self.next(progress, ask, jitter)
    }

    /// Back-off and RPC timeouts start again, after an attempt that delivered messages.
    fn reset_backoff(&self, progress: &mut Self::Progress, _bound: u64) {
        *progress = self.begin();
    }
}

/// An attempt that is to be followed by another one, as a rule set sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    /// The attempts so far that count towards their greatest number.
    pub(crate) counted: u32,
    /// In nanoseconds since the operation's start.
    pub(crate) now: u64,
    /// The caller's own deadline in nanoseconds.
    pub(crate) bound: u64,
    pub(crate) server_delay: ServerDelay,
    /// The longest that a server may ask for if no total bounds the operation.
    pub(crate) longest: Duration,
    /// `true` if another attempt may follow although neither a time nor a number limits the operation.
    pub(crate) is_endless: bool,
}

/// The wait before another attempt, as drawn, in nanoseconds. Zero: continue immediately, without a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait(pub(crate) u64);

/// A limit is in the way of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: StopReason,
    /// The wait that would have come before the attempt, where one was planned.
    pub(crate) wait: Option<Duration>,
    /// The deadline itself ended the operation.
    pub(crate) at_deadline: bool,
}

impl Refusal {
    /// Of an operation that was given another policy than the one it began with.
    pub(super) const STRAY: Self = Self { reason: StopReason::NoLimits, wait: None, at_deadline: false };

    /// There is no time for any attempt.
    pub(crate) fn spent() -> Self {
        Self::new(StopReason::TotalTimeout)
    }

    /// The settings can't be used.
    pub(crate) fn invalid() -> Self {
        Self::new(StopReason::InvalidOptions)
    }

    pub(crate) fn new(reason: StopReason) -> Self {
        Self { reason, wait: None, at_deadline: false }
    }

    /// There is no time for the wait that the server asks for.
    pub(super) fn of_server(wait: Duration) -> Self {
        Self::of_wait(StopReason::ServerDelayExceedsTotalTimeout, wait)
    }

    pub(super) fn of_wait(reason: StopReason, wait: Duration) -> Self {
        Self { wait: Some(wait), ..Self::new(reason) }
    }

    pub(super) fn at_deadline(reason: StopReason) -> Self {
        Self { at_deadline: true, ..Self::new(reason) }
    }
}
