//! The arithmetic of the documentation of Google's client libraries.

use super::decision::ServerWord;
use super::progress::Progress;
use super::{Decision, Retry, Stop};
use crate::jitter::jittered;
use crate::nanos::{nanos, scaled};
use crate::{Compatibility, JitterSource, RetrySettings, Started, StopReason};
use std::time::Duration;

/// A duration that is not set: no limit.
const FOREVER: u64 = u64::MAX;

/// Settings in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Documented {
    total: u64,
    initial_delay: u64,
    delay_multiplier: f64,
    max_delay: u64,
    max_attempts: Option<u32>,
    jittered: bool,
    initial_timeout: u64,
    timeout_multiplier: f64,
    max_timeout: u64,
}

impl Documented {
    pub(super) fn new(settings: &RetrySettings) -> Self {
        let delays = settings.retry_delays(Compatibility::Documented);
        Self {
            total: limit(settings.total_timeout),
            initial_delay: limited(delays.initial()),
            delay_multiplier: delays.multiplier(),
            max_delay: limit(delays.max()),
            max_attempts: settings.max_attempts,
            jittered: settings.jittered,
            initial_timeout: limit(settings.initial_rpc_timeout),
            timeout_multiplier: settings.rpc_timeout_multiplier,
            max_timeout: limit(settings.max_rpc_timeout),
        }
    }

    /// Every attempt gets exactly that timeout, clamped to what is left of the total.
    pub(super) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.initial_timeout = limited(timeout);
        self.timeout_multiplier = 1.0;
        self.max_timeout = self.initial_timeout;
    }

    pub(super) fn remove_rpc_timeouts(&mut self) {
        self.initial_timeout = FOREVER;
        self.timeout_multiplier = 1.0;
        self.max_timeout = FOREVER;
    }

    pub(super) fn shorten_total(&mut self, timeout: Duration) {
        self.total = self.total.min(limited(timeout));
    }

    pub(super) fn start(&self, progress: &mut Progress, now: Duration) -> Result<Started, Stop> {
        let remaining = match self.total {
            FOREVER => FOREVER,
            total => total.saturating_sub(limited(now)),
        };
        if remaining == 0 {
            return Err(Stop::new(StopReason::TotalTimeout));
        }
        let grown = if progress.attempts == 0 {
            self.restart(progress);
            self.initial_timeout
        } else {
            progress.delay = grown(progress.delay, self.delay_multiplier).min(self.max_delay);
            grown(progress.timeout, self.timeout_multiplier)
        };
        progress.attempts = progress.attempts.saturating_add(1);
        progress.timeout = self.clamped(grown, progress.delay, remaining);
        let timeout = Some(progress.timeout).filter(|timeout| *timeout != FOREVER);
        Ok(Started::new(progress.attempts, timeout.map(Duration::from_nanos)))
    }

    /// What follows an attempt that ended with a retryable code. `progress.delay` belongs before the
    /// next attempt: it was set when this one started.
    pub(super) fn ended(
        &self,
        progress: &mut Progress,
        now: Duration,
        server: ServerWord,
        jitter: &mut impl JitterSource,
    ) -> Decision {
        if self.total == FOREVER && self.max_attempts.is_none() {
            return Decision::Stop(Stop::new(StopReason::NoLimits));
        }
        let now = limited(now);
        if now >= self.total {
            return Decision::Stop(Stop::new(StopReason::TotalTimeout));
        }
        if self.max_attempts == Some(1) {
            return Decision::Stop(Stop::new(StopReason::MaxAttempts));
        }
        let drawn = self.jittered && jitter.is_random();
        let wait = if drawn { jittered(progress.delay, jitter) } else { progress.delay };
        let next = progress.attempts.saturating_add(1);
        if now.saturating_add(wait) >= self.total {
            let wait = Duration::from_nanos(wait);
            return Decision::Stop(Stop::refusing(StopReason::TotalTimeout, next, wait));
        }
        if self.max_attempts.is_some_and(|most| progress.counted() >= most) {
            return Decision::Stop(Stop::new(StopReason::MaxAttempts));
        }
        let mut wait = Duration::from_nanos(wait);
        if let Some(longer) = server.beyond(wait) {
            if now.saturating_add(limited(longer)) >= self.total {
                return Decision::Stop(Stop::refusing(StopReason::ServerDelayExceedsBudget, next, longer));
            }
            wait = longer;
        }
        Decision::Retry(Retry::new(next, Duration::from_nanos(progress.delay), wait))
    }

    /// Back-off begins again after an attempt that delivered messages.
    pub(super) fn forgive(&self, progress: &mut Progress) {
        progress.forgive();
        self.restart(progress);
    }

    /// The delay before the next attempt and the timeout to grow from, as a first attempt has them.
    fn restart(&self, progress: &mut Progress) {
        progress.delay = self.initial_delay;
        progress.timeout = self.initial_timeout.min(self.total);
    }

    /// The RPC timeout that an attempt gets, of the one that growth would give it.
    ///
    /// It never exceeds what remains of the total nor, but for one case, the cap. The case: where the
    /// cap cuts the growth, and so little would be left after this attempt and the next delay that no
    /// useful attempt could follow, the attempt gets all that remains rather than leave crumbs. With a
    /// multiplier of 1, as in every published table, growth never reaches the cap.
    fn clamped(&self, grown: u64, next_delay: u64, remaining: u64) -> u64 {
        let timeout = grown.min(self.max_timeout).min(remaining);
        let cut = grown != FOREVER && grown > self.max_timeout;
        if cut && remaining != FOREVER && self.initial_timeout != FOREVER {
            let left_over = (remaining - timeout).saturating_sub(next_delay);
            if left_over < self.initial_timeout {
                return remaining;
            }
        }
        timeout
    }
}

/// A limit in nanoseconds.
fn limit(duration: Option<Duration>) -> u64 {
    duration.map_or(FOREVER, limited)
}

/// A duration that is set, however long, is not forever.
fn limited(duration: Duration) -> u64 {
    nanos(duration).min(FOREVER - 1)
}

/// What a timeout or delay grows to. What is not set does not grow, and nothing grows to forever.
fn grown(nanos: u64, multiplier: f64) -> u64 {
    if nanos == FOREVER { FOREVER } else { scaled(nanos, multiplier).min(FOREVER - 1) }
}
