//! The arithmetic of gax-java, as its callables run it.

use super::decision::ServerWord;
use super::progress::Progress;
use super::{Decision, Retry, Stop};
use crate::gax_java::{Algorithm, Limit, Next, RawSettings, deadline, millis};
use crate::{CodeSet, JitterSource, RetrySettings, Started, StopReason};
use std::time::Duration;

/// What is left of the total, in whole milliseconds, when a retry may still be made.
const LEAST_LEFT: i64 = 1;

/// The algorithm with what Java's callables and contexts add to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GaxJava {
    algorithm: Algorithm,
    /// The settings leave no time for any attempt. The algorithm can't say that: to it zero is no timeout.
    is_spent: bool,
    /// A call context's timeout, in place of every attempt's RPC timeout.
    call_timeout: Option<Duration>,
    /// The caller's own deadline, which no attempt outlives (Java's `CallOptions` deadline).
    bound: Option<Duration>,
}

impl GaxJava {
    /// A method with these settings. Where they turn retries off, it gets one attempt with the total
    /// timeout as its deadline, and its RPC timeouts are not looked at.
    pub(super) fn new(settings: &RawSettings, codes: CodeSet) -> Self {
        let unlimited = settings.total_timeout_us == 0 && settings.max_attempts == 0;
        let algorithm = if settings.max_attempts == 1 || codes.is_empty() || unlimited {
            Algorithm::new(&RawSettings::simple_timeout_no_retries(settings.total_timeout_us))
        } else {
            Algorithm::new(settings)
        };
        Self { algorithm, is_spent: false, call_timeout: None, bound: None }
    }

    /// A method with settings that were checked.
    pub(super) fn of(settings: &RetrySettings, codes: CodeSet) -> Self {
        Self { is_spent: is_spent(settings), ..Self::new(&RawSettings::from(settings), codes) }
    }

    /// A call's own settings that were checked; see [`replace_settings`](Self::replace_settings).
    pub(super) fn replace(&mut self, settings: &RetrySettings) {
        self.replace_settings(&RawSettings::from(settings));
        self.is_spent = is_spent(settings);
    }

    /// A call's own settings are used as given, even those that turn retries off. Only whether waits
    /// are drawn at random stays as the client has it.
    pub(super) fn replace_settings(&mut self, settings: &RawSettings) {
        self.algorithm = Algorithm::new(settings).jittered_like(&self.algorithm);
        self.is_spent = false;
    }

    pub(super) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.call_timeout = Some(timeout);
    }

    pub(super) fn shorten_total(&mut self, timeout: Duration) {
        self.bound = Some(self.bound.map_or(timeout, |bound| bound.min(timeout)));
    }

    /// The attempt's deadline was settled when the one before ended; how late the timer was makes no
    /// difference to it.
    pub(super) fn start(&self, progress: &mut Progress, now: Duration) -> Result<Started, Stop> {
        let left = self.bound.map(|bound| bound.saturating_sub(now));
        if self.is_spent || left.is_some_and(|left| left.is_zero()) {
            return Err(Stop::new(StopReason::TotalTimeout));
        }
        let own = if progress.attempts == 0 {
            keep(progress, self.algorithm.first());
            deadline(self.algorithm.first_timeout())
        } else {
            deadline(i128::from(progress.timeout.cast_signed()) * 1_000_000)
        };
        progress.attempts = progress.attempts.saturating_add(1);
        let timeout = self.call_timeout.or(own);
        let bounded = match (timeout, left) {
            (Some(timeout), Some(left)) => Some(timeout.min(left)),
            (timeout, left) => timeout.or(left),
        };
        Ok(Started::new(progress.attempts, bounded).with_whole_milliseconds())
    }

    /// What follows an attempt that ended with a retryable code.
    pub(super) fn ended(
        &self,
        progress: &mut Progress,
        now: Duration,
        server: ServerWord,
        jitter: &mut impl JitterSource,
    ) -> Decision {
        let elapsed = now.as_nanos().cast_signed();
        let count = progress.counted();
        let next = self.algorithm.next(count.saturating_sub(1), kept(progress), elapsed, jitter);
        keep(progress, next);
        let number = progress.attempts.saturating_add(1);
        let wait = millis(next.wait);
        let reason = match self.algorithm.limit(count, next, elapsed, LEAST_LEFT) {
            Some(Limit::NoLimits) => StopReason::NoLimits,
            Some(Limit::TotalTimeout | Limit::Overflow) => StopReason::TotalTimeout,
            Some(Limit::MaxAttempts) => StopReason::MaxAttempts,
            None if self.bound.is_some_and(|bound| now.saturating_add(wait) >= bound) => {
                StopReason::TotalTimeout
            }
            None => match server.beyond(wait) {
                None => return Decision::Retry(Retry::new(number, millis(next.delay), wait)),
                Some(longer) => return self.longer(progress, now, next, longer),
            },
        };
        Decision::Stop(if self.algorithm.is_single() {
            Stop::new(reason)
        } else {
            Stop::refusing(reason, number, wait)
        })
    }

    /// The server asks for a longer wait, which Java knows nothing of: as if back-off had drawn it.
    fn longer(&self, progress: &mut Progress, now: Duration, next: Next, wait: Duration) -> Decision {
        let elapsed = now.as_nanos().cast_signed();
        let number = progress.attempts.saturating_add(1);
        let whole = i64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX);
        let next = self.algorithm.delayed(next, whole, elapsed);
        let too_long = self.algorithm.limit(progress.counted(), next, elapsed, LEAST_LEFT).is_some()
            || self.bound.is_some_and(|bound| now.saturating_add(wait) >= bound);
        if too_long {
            return Decision::Stop(Stop::refusing(StopReason::ServerDelayExceedsBudget, number, wait));
        }
        keep(progress, next);
        Decision::Retry(Retry::new(number, millis(next.delay), millis(next.wait)))
    }

    /// The counters begin again after an attempt that delivered messages.
    pub(super) fn forgive(&self, progress: &mut Progress) {
        progress.forgive();
        keep(progress, self.algorithm.first());
    }
}

fn is_spent(settings: &RetrySettings) -> bool {
    settings.total_timeout.is_some_and(|total| total.is_zero())
}

fn keep(progress: &mut Progress, attempt: Next) {
    progress.delay = attempt.delay.cast_unsigned();
    progress.timeout = attempt.timeout.cast_unsigned();
}

fn kept(progress: &Progress) -> Next {
    Next { delay: progress.delay.cast_signed(), wait: 0, timeout: progress.timeout.cast_signed() }
}
