//! The arithmetic of the documentation of Google's client libraries.

use super::{Decision, Retry, Stop};
use crate::jitter::jittered;
use crate::nanos::{nanos, scaled};
use crate::{JitterSource, RetrySettings, Started, StopReason};
use std::time::Duration;

/// Settings in nanoseconds; what is unset is the greatest number where it caps, `None` where it grows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Documented {
    total: Option<u64>,
    initial_delay: u64,
    delay_multiplier: f64,
    max_delay: u64,
    max_attempts: Option<u32>,
    jittered: bool,
    initial_timeout: Option<u64>,
    timeout_multiplier: f64,
    max_timeout: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct DocumentedState {
    /// Attempts started so far.
    attempts: u32,
    /// The un-jittered delay before the next attempt, once there has been a first.
    delay: u64,
    /// The RPC timeout that the attempt before was really given.
    timeout: Option<u64>,
}

impl Documented {
    pub(super) fn new(settings: &RetrySettings) -> Self {
        Self {
            total: settings.total_timeout.map(nanos),
            initial_delay: nanos(settings.initial_retry_delay),
            delay_multiplier: settings.retry_delay_multiplier,
            max_delay: settings.max_retry_delay.map_or(u64::MAX, nanos),
            max_attempts: settings.max_attempts,
            jittered: settings.jittered,
            initial_timeout: settings.initial_rpc_timeout.map(nanos),
            timeout_multiplier: settings.rpc_timeout_multiplier,
            max_timeout: settings.max_rpc_timeout.map_or(u64::MAX, nanos),
        }
    }

    pub(super) fn start(&self, state: &mut DocumentedState, now: Duration) -> Result<Started, Stop> {
        let remaining = match self.total {
            Some(total) => match total.checked_sub(nanos(now)) {
                Some(remaining) if remaining > 0 => Some(remaining),
                _ => return Err(Stop::new(StopReason::TotalTimeout)),
            },
            None => None,
        };
        if state.attempts == 0 {
            state.delay = self.initial_delay.min(self.max_delay);
            state.timeout = self.initial_timeout;
        } else {
            state.delay = scaled(state.delay, self.delay_multiplier).min(self.max_delay);
            state.timeout = state.timeout.map(|previous| scaled(previous, self.timeout_multiplier));
        }
        state.attempts = state.attempts.saturating_add(1);
        state.timeout = self.clamped(state.timeout, state.delay, remaining);
        Ok(Started::new(state.attempts, state.timeout.map(Duration::from_nanos)))
    }

    /// The RPC timeout that an attempt gets, of the one that growth would give it.
    ///
    /// It never exceeds what remains of the total nor, but for one case, the cap. The case: where the
    /// cap cuts the growth, and so little would be left after this attempt and the next delay that no
    /// useful attempt could follow, the attempt gets all that remains rather than leave crumbs. With a
    /// multiplier of 1, as in every published table, growth never reaches the cap.
    fn clamped(&self, grown: Option<u64>, next_delay: u64, remaining: Option<u64>) -> Option<u64> {
        let Some(remaining) = remaining else {
            return grown.map_or(Some(self.max_timeout).filter(|cap| *cap != u64::MAX), |grown| {
                Some(grown.min(self.max_timeout))
            });
        };
        let wanted = grown.unwrap_or(remaining);
        let timeout = wanted.min(self.max_timeout).min(remaining);
        let cut = grown.is_some_and(|grown| grown > self.max_timeout);
        let left_over = remaining.saturating_sub(timeout).saturating_sub(next_delay);
        if cut && self.initial_timeout.is_some_and(|useful| left_over < useful) {
            return Some(remaining);
        }
        Some(timeout)
    }

    /// What follows an attempt that ended with a retryable code. `state.delay` is the delay that
    /// belongs before the next attempt: it was set when this one started.
    pub(super) fn ended(
        &self,
        state: &mut DocumentedState,
        now: Duration,
        jitter: &mut impl JitterSource,
    ) -> Decision {
        let next = state.attempts.saturating_add(1);
        if self.total.is_none() && self.max_attempts.is_none() {
            return Decision::Stop(Stop::new(StopReason::NoLimits));
        }
        let wait = if self.jittered { jittered(state.delay, jitter) } else { state.delay };
        let spent = |total| nanos(now) >= total;
        if self.total.is_some_and(spent) {
            return Decision::Stop(Stop::new(StopReason::TotalTimeout));
        }
        if self.max_attempts.is_some_and(|most| state.attempts >= most) {
            return Decision::Stop(Stop::new(StopReason::MaxAttempts));
        }
        if self.total.is_some_and(|total| nanos(now).saturating_add(wait) >= total) {
            let wait = Duration::from_nanos(wait);
            return Decision::Stop(Stop::refusing(StopReason::TotalTimeout, next, wait));
        }
        Decision::Retry(Retry::new(next, Duration::from_nanos(state.delay), Duration::from_nanos(wait)))
    }
}
