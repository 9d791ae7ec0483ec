//! The arithmetic of gax-java, as its callables run it.

use super::server_wait::Own;
use super::{Ask, Refusal, RuleSet, Wait};
use crate::gax_java::{Algorithm, Limit, Next, RawSettings, deadline, millis};
use crate::jitter::JitterSource;
use crate::nanos::{FOREVER, after, bounded, limited, remaining, timeout_or_forever};
use crate::{CodeSet, RetrySettings, ServerDelay, StopReason};
use std::time::Duration;

/// The least that has to be left of the total, in whole milliseconds, when a retry may still be made.
const MIN_LEFT: i64 = 1;

/// The algorithm with what Java's callables and contexts add to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GaxJava {
    algorithm: Algorithm,
    /// A call context's timeout, instead of every attempt's RPC timeout.
    call_timeout: Option<Duration>,
    /// The method's own settings and codes turn retries off, which no timeout of a call changes.
    is_off: bool,
    /// The settings are a call's own, and used as they are.
    is_as_given: bool,
}

/// Settings made ready, or those of one attempt that has the total timeout as its deadline.
fn algorithm(settings: &RawSettings, is_off: bool) -> Algorithm {
    if is_off {
        return Algorithm::new(&RawSettings::simple_timeout_no_retries(settings.total_timeout_us));
    }
    Algorithm::new(settings)
}

impl GaxJava {
    /// A method with these settings. If they turn retries off, it gets one attempt with the total timeout as its
    /// deadline, and its RPC timeouts are not looked at.
    pub(crate) fn new(settings: &RawSettings, codes: CodeSet) -> Self {
        let unlimited = settings.total_timeout_us == 0 && settings.max_attempts == 0;
        let is_off = settings.max_attempts == 1 || codes.is_empty() || unlimited;
        Self { algorithm: algorithm(settings, is_off), call_timeout: None, is_off, is_as_given: false }
    }

    /// A call's own settings are used as given, even those that turn retries off. Only whether waits are drawn at
    /// random stays as in the client.
    pub(crate) fn replace_settings(&mut self, settings: &RawSettings) {
        self.algorithm = Algorithm::new(settings).jittered_like(&self.algorithm);
        self.is_as_given = true;
    }

    /// The method with settings of which a call has changed single fields. Java knows no such thing. Timeouts by
    /// themselves are those of the method; anything else makes the settings the call's own.
    pub(crate) fn with_changed(&self, settings: &RawSettings, is_timeouts_only: bool) -> Self {
        let mut changed = self.clone();
        if is_timeouts_only && !self.is_as_given {
            changed.algorithm = algorithm(settings, self.is_off);
        } else {
            changed.replace_settings(settings);
        }
        changed
    }

    /// The method without retries and without any timeout but a call's.
    pub(crate) fn without_settings(&self) -> Self {
        Self { call_timeout: self.call_timeout, ..Self::new(&RawSettings::default(), CodeSet::EMPTY) }
    }

    /// No more time and attempts than that.
    pub(crate) fn limit_to(&mut self, total: Option<Duration>, attempts: Option<u32>) {
        // Settings that turn retries off have one attempt, with the total as its deadline.
        match total {
            Some(total) if self.is_off && !self.is_as_given => {
                let own = self.algorithm.total();
                let least = own.map_or(total, |own| own.min(total));
                let timed = RetrySettings::no_retry(least);
                self.algorithm = algorithm(&RawSettings::from(&timed), true);
            }
            Some(total) => self.algorithm.cap_total(total),
            None => {}
        }
        if let Some(attempts) = attempts {
            self.algorithm.cap_attempts(attempts);
        }
    }

    pub(crate) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.call_timeout = Some(timeout);
    }
}

impl RuleSet for GaxJava {
    type Progress = Next;

    fn begin(&self) -> Next {
        self.algorithm.first()
    }

    /// The attempt's deadline was settled when the previous one ended; how late the timer was makes no difference to
    /// it.
    fn start(&self, progress: &mut Next, is_first: bool, now: u64, bound: u64) -> Result<u64, Refusal> {
        let own = if is_first {
            deadline(self.algorithm.first_timeout())
        } else {
            deadline(i128::from(progress.timeout) * 1_000_000)
        };
        within(self.call_timeout.or(own), now, bound)
    }

    fn next(
        &self,
        progress: &mut Next,
        ask: Ask,
        mut jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        let elapsed = i128::from(ask.now);
        let grown = self.algorithm.grown(ask.counted.saturating_sub(1), *progress, &mut jitter);
        let asked = match ask.server_delay {
            ServerDelay::None | ServerDelay::Never => None,
            ServerDelay::AtLeast(asked) | ServerDelay::Exactly(asked) => Some(asked),
        };
        // A server's delay is checked on its own, below.
        let own_wait = if asked.is_some() { 0 } else { grown.wait };
        let next = self.algorithm.delayed(grown, own_wait, elapsed);
        *progress = next;
        if let Some(reason) = self.refusal(ask, next) {
            return Err(self.refused(reason, millis(next.wait)));
        }
        let Some(asked) = asked else { return Ok(Wait(limited(millis(next.wait)))) };
        // Java has no server delays: it is treated as if back-off had drawn it.
        let wait = match ask.server_delay {
            ServerDelay::AtLeast(_) => self.after(ask, asked, grown, &mut jitter),
            _ => Some(millis_up(asked)),
        };
        let wait = wait.and_then(|wait| i64::try_from(wait).ok());
        let next = wait.map(|wait| self.algorithm.delayed(grown, wait, elapsed));
        match next.filter(|next| self.refusal(ask, *next).is_none()) {
            None => Err(self.refused(StopReason::ServerDelayExceedsTotalTimeout, asked)),
            Some(next) => {
                *progress = next;
                Ok(Wait(limited(millis(next.wait))))
            }
        }
    }
}

impl GaxJava {
    gax_text::getters! { self:
        pub(crate) is_jittered: bool = self.algorithm.is_jittered();

        pub(crate) total: u64 = self.algorithm.total().map_or(FOREVER, limited);
    }

    /// The server's delay with back-off on top, in milliseconds.
    fn after(&self, ask: Ask, asked: Duration, grown: Next, jitter: &mut impl JitterSource) -> Option<u64> {
        let elapsed = i128::from(ask.now);
        let bound = bounded(remaining(ask.bound, ask.now)).map(millis_up);
        let own = Own {
            backoff: u64::try_from(grown.delay).unwrap_or(0),
            is_drawn: self.algorithm.is_drawn(jitter),
            left: [self.algorithm.left(elapsed), bound].into_iter().flatten().min(),
            unit: millis_up,
        };
        ask.wait_after(asked, own, jitter)
    }

    fn refused(&self, reason: StopReason, wait: Duration) -> Refusal {
        if self.algorithm.is_single() { Refusal::new(reason) } else { Refusal::of_wait(reason, wait) }
    }

    /// The limit that keeps that attempt from being made.
    fn refusal(&self, ask: Ask, next: Next) -> Option<StopReason> {
        let elapsed = i128::from(ask.now);
        match self.algorithm.limit(ask.counted, next, elapsed, MIN_LEFT) {
            Some(Limit::NoLimits) if !ask.is_endless => Some(StopReason::NoLimits),
            Some(Limit::TotalTimeout | Limit::Overflow) => Some(StopReason::TotalTimeout),
            Some(Limit::MaxAttempts) => Some(StopReason::MaxAttempts),
            Some(Limit::NoLimits) | None => {
                let start = after(ask.now, limited(millis(next.wait)));
                (start >= ask.bound).then_some(StopReason::TotalTimeout)
            }
        }
    }
}

/// A timeout, as far as the caller's deadline leaves time for it.
pub(super) fn within(timeout: Option<Duration>, now: u64, bound: u64) -> Result<u64, Refusal> {
    match remaining(bound, now) {
        0 => Err(Refusal::spent()),
        left => Ok(timeout_or_forever(timeout).min(left)),
    }
}

/// The duration in whole milliseconds, rounded up.
fn millis_up(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
