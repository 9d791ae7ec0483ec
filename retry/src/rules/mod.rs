//! The arithmetic of each rule set: when the next attempt starts, and how long it may take.

mod documented;
mod gax_java;
mod grpc;
mod polling;
mod server_wait;
mod strategy;

pub(crate) use documented::Documented;
pub(crate) use gax_java::GaxJava;
pub(crate) use grpc::Grpc;
pub(crate) use polling::Polls;
pub(crate) use server_wait::{Own, longest, longest_of};
pub(crate) use strategy::Strategy;

use crate::nanos::FOREVER;
use crate::{JitterSource, Next, ServerDelay, StopReason};
use std::time::Duration;

/// One way to turn settings into attempts. An operation's progress through them is kept outside, so that one
/// set serves all operations. Times are nanoseconds since the operation's start.
pub(crate) trait RuleSet {
    /// How far back-off has come, in the rule set's own terms.
    type Progress;

    fn begin(&self) -> Self::Progress;

    /// The RPC timeout of an attempt that starts `now`; [`FOREVER`] means no deadline. `bound` is the caller's own
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
            Next::Later => self.next(progress, ask, jitter),
        }
    }

    /// Back-off and RPC timeouts begin anew, after an attempt that delivered messages.
    fn reset_backoff(&self, progress: &mut Self::Progress, _bound: u64) {
        *progress = self.begin();
    }
}

/// The facts of an attempt that is to be followed by another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    /// The attempts so far that count towards their greatest number.
    pub(crate) counted: u32,
    /// In nanoseconds since the operation's start.
    pub(crate) now: u64,
    /// The caller's own deadline in nanoseconds.
    pub(crate) bound: u64,
    pub(crate) server_delay: ServerDelay,
    /// The longest that a server may ask for where no total bounds the operation.
    pub(crate) longest: Duration,
}

/// The wait before another attempt, as drawn, in nanoseconds. Zero: go on at once, without a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait(pub(crate) u64);

/// A limit stands in the way of an attempt.
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
    const STRAY: Self = Self { reason: StopReason::NoLimits, wait: None, at_deadline: false };

    /// There is no time for any attempt.
    pub(crate) fn spent() -> Self {
        Self::new(StopReason::TotalTimeout)
    }

    /// What is asked for can't be done.
    pub(crate) fn invalid() -> Self {
        Self::new(StopReason::InvalidOptions)
    }

    pub(crate) fn new(reason: StopReason) -> Self {
        Self { reason, wait: None, at_deadline: false }
    }

    /// There is no time for the wait that the server asks for.
    fn of_server(wait: Duration) -> Self {
        Self::of_wait(StopReason::ServerDelayExceedsBudget, wait)
    }

    fn of_wait(reason: StopReason, wait: Duration) -> Self {
        Self { wait: Some(wait), ..Self::new(reason) }
    }

    fn at_deadline(reason: StopReason) -> Self {
        Self { at_deadline: true, ..Self::new(reason) }
    }
}

/// The rule set of a policy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rules {
    Documented(Documented),
    GaxJava(GaxJava),
    Grpc(Grpc),
    Strategy(Strategy),
    Polls(Polls),
}

/// The progress of an operation through its rule set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Progress {
    Documented(<Documented as RuleSet>::Progress),
    GaxJava(<GaxJava as RuleSet>::Progress),
    Grpc(<Grpc as RuleSet>::Progress),
    Strategy(<Strategy as RuleSet>::Progress),
    Polls(<Polls as RuleSet>::Progress),
}

/// Calls a rule set with the progress that belongs to it. An operation that keeps to its policy has no other;
/// `else` is what one gets that doesn't.
macro_rules! with_progress {
    ($rules:expr, $progress:expr, |$set:ident, $own:ident| $call:expr, else $stray:expr) => {
        match ($rules, $progress) {
            (Rules::Documented($set), Progress::Documented($own)) => $call,
            (Rules::GaxJava($set), Progress::GaxJava($own)) => $call,
            (Rules::Grpc($set), Progress::Grpc($own)) => $call,
            (Rules::Strategy($set), Progress::Strategy($own)) => $call,
            (Rules::Polls($set), Progress::Polls($own)) => $call,
            _ => $stray,
        }
    };
}

impl Rules {
    pub(crate) fn begin(&self) -> Progress {
        match self {
            Rules::Documented(rules) => Progress::Documented(rules.begin()),
            Rules::GaxJava(rules) => Progress::GaxJava(rules.begin()),
            Rules::Grpc(rules) => Progress::Grpc(rules.begin()),
            Rules::Strategy(rules) => Progress::Strategy(rules.begin()),
            Rules::Polls(rules) => Progress::Polls(rules.begin()),
        }
    }

    pub(crate) fn start(
        &self,
        progress: &mut Progress,
        is_first: bool,
        now: u64,
        bound: u64,
    ) -> Result<u64, Refusal> {
        with_progress!(self, progress, |rules, own| rules.start(own, is_first, now, bound), else Err(Refusal::STRAY))
    }

    pub(crate) fn next(
        &self,
        progress: &mut Progress,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        with_progress!(self, progress, |rules, own| rules.next(own, ask, jitter), else Err(Refusal::STRAY))
    }

    pub(crate) fn poll_next(
        &self,
        progress: &mut Progress,
        next: Next,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        with_progress!(self, progress, |rules, own| rules.poll_next(own, next, ask, jitter), else Err(Refusal::STRAY))
    }

    /// Whether waits are drawn at random.
    pub(crate) fn is_jittered(&self) -> bool {
        match self {
            Rules::Documented(rules) => rules.is_jittered(),
            Rules::GaxJava(rules) => rules.is_jittered(),
            Rules::Grpc(rules) => rules.is_jittered(),
            Rules::Strategy(rules) => rules.is_jittered(),
            Rules::Polls(_) => false,
        }
    }

    /// Whether an attempt is cut off at a whole number of milliseconds.
    pub(crate) fn has_whole_milliseconds(&self) -> bool {
        matches!(self, Rules::GaxJava(_) | Rules::Polls(_))
    }

    /// The total timeout in nanoseconds, where one cuts the operation itself.
    pub(crate) fn time_limit(&self) -> u64 {
        match self {
            Rules::Documented(rules) => rules.total(),
            Rules::Grpc(rules) => rules.total(),
            Rules::Strategy(rules) => rules.wall(FOREVER),
            Rules::GaxJava(rules) => rules.total(),
            Rules::Polls(_) => FOREVER,
        }
    }

    /// The total timeout in nanoseconds where an attempt that it ends has ended the operation, whatever its code. By
    /// gax-java's rules such an attempt ends as any other does.
    pub(crate) fn clock_limit(&self) -> u64 {
        match self {
            Rules::GaxJava(_) => FOREVER,
            _ => self.time_limit(),
        }
    }

    /// No attempt follows the first one.
    pub(crate) fn set_single(&mut self) {
        match self {
            Rules::Documented(rules) => rules.set_single(),
            Rules::GaxJava(rules) => rules.set_single(),
            Rules::Grpc(rules) => rules.set_single(),
            Rules::Strategy(rules) => rules.set_single(),
            Rules::Polls(_) => {}
        }
    }

    pub(crate) fn reset_backoff(&self, progress: &mut Progress, bound: u64) {
        with_progress!(self, progress, |rules, own| rules.reset_backoff(own, bound), else ());
    }
}
