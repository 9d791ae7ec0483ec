//! How long each attempt may take.

use crate::nanos::{limited, nanos, scaled};
use std::fmt;
use std::time::Duration;

/// How long each attempt of an operation may take, where a tool or library bounds attempts at all.
///
/// Whatever it says, no attempt outlives the limits or the caller's own timeout.
///
/// # Examples
///
/// Python's `ExponentialTimeout(5, 20, 2)`:
///
/// ```
/// use gax_retry::{AttemptPlan, Code, NoJitter, Policy};
/// use gax_retry::strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Limits};
/// use std::time::Duration;
///
/// let s = Duration::from_secs;
/// let strategy = BackoffStrategy::new(Backoff::exponential(s(1), 1.0, s(1)), Limits::none().with_max_attempts(4))
///     .with_attempt_timeouts(AttemptTimeouts::exponential(s(5), 2.0, s(20)));
/// let plan = AttemptPlan::new(&Policy::from_strategy(&strategy, Code::DeadlineExceeded), &[], &mut NoJitter);
/// let timeouts: Vec<_> = plan.attempts().iter().filter_map(|attempt| attempt.rpc_timeout()).collect();
/// assert_eq!(timeouts, [s(5), s(10), s(20), s(20)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct AttemptTimeouts {
    kind: Kind,
    deadline: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Growing { initial: Duration, multiplier: f64, max: Duration },
    ToDeadline(Duration),
}

/// The rest of the time below which Python's `TimeToDeadlineTimeout` starts again.
const MIN_LEFT: Duration = Duration::from_secs(1);

impl AttemptTimeouts {
    /// Every attempt has that time: Python's `ConstantTimeout`.
    pub const fn constant(timeout: Duration) -> Self {
        Self::exponential(timeout, 1.0, timeout)
    }

    /// The first attempt has `initial`, each later one the time of the previous one times the multiplier, up to `max`:
    /// Python's `ExponentialTimeout`, node-gax's RPC timeouts.
    ///
    /// A multiplier that is not a number or is below 1 is treated as 1.
    pub const fn exponential(initial: Duration, multiplier: f64, max: Duration) -> Self {
        let multiplier = if multiplier >= 1.0 { multiplier } else { 1.0 };
        Self { kind: Kind::Growing { initial, multiplier, max }, deadline: None }
    }

    /// Every attempt has what is left of that time since the operation's start, and all of it again where less than a
    /// second is left: Python's `TimeToDeadlineTimeout`.
    pub const fn to_deadline(timeout: Duration) -> Self {
        Self { kind: Kind::ToDeadline(timeout), deadline: None }
    }

    /// These timeouts, if no attempt has more than is left of that time since the operation's start. None starts after it.
    pub const fn within(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The time of the first attempt, before the deadline cuts it.
    pub(crate) fn first(&self) -> u64 {
        match self.kind {
            Kind::Growing { initial, max, .. } => limited(initial.min(max)),
            Kind::ToDeadline(timeout) => limited(timeout),
        }
    }

    /// The time of an attempt that starts `now`; `previous` is that of the previous one, before the deadline cut it.
    pub(crate) fn next(&self, previous: u64, now: Duration) -> u64 {
        match self.kind {
            Kind::Growing { multiplier, max, .. } => limited(max).min(scaled(previous, multiplier)),
            Kind::ToDeadline(timeout) => {
                let left = timeout.saturating_sub(now);
                limited(if left < MIN_LEFT { timeout } else { left })
            }
        }
    }

    /// The rest of the deadline.
    pub(crate) fn left(&self, now: Duration) -> Option<u64> {
        self.deadline.map(|deadline| nanos(deadline.saturating_sub(now)))
    }
}

impl fmt::Display for AttemptTimeouts {
    /// The formula, n counted from 0 at the first attempt: `min(5s x 2^n, 20s)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Growing { initial, max, .. } if initial >= max => write!(f, "{max:?}")?,
            Kind::Growing { initial, multiplier, max } => {
                write!(f, "min({initial:?} x {multiplier}^n, {max:?})")?;
            }
            Kind::ToDeadline(timeout) => write!(f, "what is left of {timeout:?}")?,
        }
        match self.deadline {
            Some(deadline) => write!(f, ", within {deadline:?}"),
            None => Ok(()),
        }
    }
}
