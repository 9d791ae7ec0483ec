//! The arithmetic of the documentation of Google's client libraries.

use super::server_wait::Own;
use super::{Ask, Refusal, RuleSet, Wait};
use crate::jitter::{JitterSource, jittered, uniform};
use crate::nanos::{FOREVER, limited, nanos_or_forever as limit, remaining, scaled};
use crate::{Compatibility, RetrySettings, ServerDelay, StopReason};
use std::time::Duration;

/// Settings in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Documented {
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
    pub(crate) fn new(settings: &RetrySettings) -> Self {
        let delays = settings.retry_delays(Compatibility::Documented);
        Self {
            total: limit(settings.total_timeout),
            initial_delay: limited(delays.initial()),
            delay_multiplier: delays.multiplier(),
            max_delay: limit(delays.max()),
            max_attempts: settings.max_attempts,
            jittered: settings.jittered,
            initial_timeout: limit(settings.initial_rpc_timeout.own()),
            timeout_multiplier: settings.rpc_timeout_multiplier,
            max_timeout: limit(settings.max_rpc_timeout.own()),
        }
    }

    /// Every attempt gets exactly that timeout, clamped to what is left of the total.
    pub(crate) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.initial_timeout = limited(timeout);
        self.timeout_multiplier = 1.0;
        self.max_timeout = self.initial_timeout;
    }

    pub(crate) fn remove_rpc_timeouts(&mut self) {
        self.initial_timeout = FOREVER;
        self.timeout_multiplier = 1.0;
        self.max_timeout = FOREVER;
    }

    /// No more time and attempts than that.
    pub(crate) fn limit_to(&mut self, total: Option<Duration>, attempts: Option<u32>) {
        self.total = self.total.min(limit(total));
        self.max_attempts = self.max_attempts.into_iter().chain(attempts).min();
    }

    gax_text::getters! { self:
        pub(crate) is_jittered: bool = self.jittered;

        pub(crate) total: u64 = self.total;
    }
}

/// Nanoseconds: the delay before the next retry, and the RPC timeout that the next one grows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentedProgress {
    delay: u64,
    timeout: u64,
}

impl RuleSet for Documented {
    type Progress = DocumentedProgress;

    fn begin(&self) -> DocumentedProgress {
        DocumentedProgress { delay: self.initial_delay, timeout: self.initial_timeout }
    }

    fn start(
        &self,
        progress: &mut DocumentedProgress,
        is_first: bool,
        now: u64,
        bound: u64,
    ) -> Result<u64, Refusal> {
        let remaining = remaining(self.total.min(bound), now);
        if remaining == 0 {
            return Err(Refusal::new(StopReason::TotalTimeout));
        }
        let grown =
            if is_first { self.initial_timeout } else { grown(progress.timeout, self.timeout_multiplier) };
        progress.timeout = self.clamped(grown, progress.delay, remaining);
        Ok(progress.timeout)
    }

    fn next(
        &self,
        progress: &mut DocumentedProgress,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        self.wait(progress, ask, jitter, |delay, mut source| jittered(delay, &mut source))
    }

    /// A poll is not much earlier than its delay: it is drawn from the upper half.
    fn poll_later(
        &self,
        progress: &mut DocumentedProgress,
        ask: Ask,
        jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        self.wait(progress, ask, jitter, |delay, mut source| uniform(delay / 2, delay, &mut source))
    }

    fn reset_backoff(&self, progress: &mut DocumentedProgress, bound: u64) {
        progress.delay = self.initial_delay;
        progress.timeout = self.initial_timeout.min(self.total).min(bound);
    }
}

impl Documented {
    /// The wait before another attempt. `draw` says how much of a delay is left to chance.
    fn wait(
        &self,
        progress: &mut DocumentedProgress,
        ask: Ask,
        mut jitter: &mut dyn JitterSource,
        draw: impl Fn(u64, &mut dyn JitterSource) -> u64,
    ) -> Result<Wait, Refusal> {
        let total = self.total.min(ask.bound);
        if total == FOREVER && self.max_attempts.is_none() && !ask.is_endless {
            return Err(Refusal::new(StopReason::NoLimits));
        }
        let now = ask.now;
        if now >= total {
            return Err(Refusal::new(StopReason::TotalTimeout));
        }
        if self.max_attempts == Some(1) {
            return Err(Refusal::new(StopReason::MaxAttempts));
        }
        let delay = progress.delay;
        progress.delay = grown(delay, self.delay_multiplier).min(self.max_delay);
        let is_drawn = self.jittered && jitter.is_random();
        let is_lone = matches!(ask.server_delay, ServerDelay::None | ServerDelay::Never);
        let drawn = if is_drawn && is_lone { draw(delay, jitter) } else { delay };
        match ask.server_delay {
            _ if is_lone && now.saturating_add(drawn) >= total => {
                return Err(Refusal::of_wait(StopReason::TotalTimeout, Duration::from_nanos(drawn)));
            }
            ServerDelay::Exactly(_) => progress.delay = self.initial_delay,
            _ => {}
        }
        if self.max_attempts.is_some_and(|most| ask.counted >= most) {
            return Err(Refusal::new(StopReason::MaxAttempts));
        }
        let wait = match ask.server_delay {
            ServerDelay::None | ServerDelay::Never => drawn,
            ServerDelay::Exactly(asked) if now.saturating_add(limited(asked)) >= total => {
                return Err(Refusal::of_server(asked));
            }
            ServerDelay::Exactly(asked) => limited(asked),
            ServerDelay::AtLeast(asked) => {
                let left = (total != FOREVER).then(|| total - now);
                let own = Own { backoff: delay, is_drawn, left, unit: limited };
                ask.wait_after(asked, own, &mut jitter).ok_or(Refusal::of_server(asked))?
            }
        };
        Ok(Wait(wait))
    }

    /// The RPC timeout that an attempt gets, of the one that growth would give it.
    ///
    /// It never exceeds what remains of the total nor, except for one case, the cap. The case: where the cap cuts the
    /// growth, and so little would be left after this attempt and the next delay that no useful attempt could follow,
    /// the attempt gets all that remains rather than leave crumbs. With a multiplier of 1, as in every published
    /// table, growth never reaches the cap.
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

/// The timeout or delay after that one. One that is not set does not grow, and none grows to forever.
fn grown(nanos: u64, multiplier: f64) -> u64 {
    if nanos == FOREVER { FOREVER } else { scaled(nanos, multiplier).min(FOREVER - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_stays_so_and_nothing_grows_to_forever() {
        assert_eq!(grown(200, 1.5), 300);
        assert_eq!(grown(FOREVER, 0.5), FOREVER);
        assert_eq!(grown(FOREVER - 1, 2.0), FOREVER - 1);
    }
}
