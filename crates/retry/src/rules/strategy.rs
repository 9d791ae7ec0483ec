//! The arithmetic of tools and libraries that wait by a formula of their own.

use super::server_wait::Own;
use super::{Ask, Refusal, RuleSet, Wait};
use crate::jitter::JitterSource;
use crate::nanos::{FOREVER, limited, remaining};
use crate::settings::{Override, SettingsOverrides};
use crate::strategy::{BackoffStrategy, Growth, Jitter, TimeRule};
use crate::{ServerDelay, StopReason};
use std::time::Duration;

/// A strategy, and the attempt timeout that a call adds to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strategy {
    strategy: BackoffStrategy,
    attempt_timeout: u64,
}

impl Strategy {
    pub(crate) fn new(strategy: BackoffStrategy) -> Self {
        Self { strategy, attempt_timeout: FOREVER }
    }

    pub(crate) fn strategy(&self) -> &BackoffStrategy {
        &self.strategy
    }

    pub(crate) fn is_jittered(&self) -> bool {
        self.strategy.backoff.jitter() != Jitter::None
    }

    /// The strategy as one call changes it.
    pub(crate) fn with_overrides(&self, overrides: &SettingsOverrides) -> Self {
        Self { strategy: self.strategy.with_overrides(overrides), ..*self }
    }

    /// No more time and attempts than that. A limit that is longer takes its rule along: no attempt outlives the cap.
    pub(crate) fn limit_to(&mut self, total: Option<Duration>, attempts: Option<u32>) {
        let limits = self.strategy.limits;
        let total = total.filter(|total| limits.time().is_none_or(|(own, _)| *total < own));
        let attempts = attempts.filter(|most| limits.max_attempts().is_none_or(|own| *most < own));
        self.strategy.limits = limits.with_overrides(
            total.map_or(Override::Unset, Override::Set),
            attempts.map_or(Override::Unset, Override::Set),
        );
    }

    pub(crate) fn set_attempt_timeout(&mut self, timeout: Duration) {
        self.attempt_timeout = limited(timeout);
    }

    pub(crate) fn remove_attempt_timeout(&mut self) {
        self.attempt_timeout = FOREVER;
        self.strategy.attempt_timeouts = None;
    }

    /// The moment at and after which no attempt starts or runs.
    pub(crate) fn wall(&self, bound: u64) -> u64 {
        match self.strategy.limits.time() {
            Some((limit, TimeRule::Strict)) => limited(limit).min(bound),
            _ => bound,
        }
    }
}

/// How far the back-off has grown, and the sum of the waits in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StrategyProgress {
    growth: Growth,
    waited: u64,
    /// The time of the last attempt by the strategy, before anything cut it.
    timeout: u64,
}

impl RuleSet for Strategy {
    type Progress = StrategyProgress;

    fn begin(&self) -> StrategyProgress {
        let timeout = self.strategy.attempt_timeouts.map_or(FOREVER, |timeouts| timeouts.first());
        StrategyProgress { growth: Growth::default(), waited: 0, timeout }
    }

    fn start(
        &self,
        progress: &mut StrategyProgress,
        is_first: bool,
        now: u64,
        bound: u64,
    ) -> Result<u64, Refusal> {
        let is_late = match self.strategy.limits.time() {
            Some((limit, TimeRule::Check)) => !is_first && now >= limited(limit),
            _ => false,
        };
        let timeouts = self.strategy.attempt_timeouts.filter(|_| self.attempt_timeout == FOREVER);
        let mut remaining = remaining(self.wall(bound), now);
        if let Some(timeouts) = timeouts {
            let elapsed = Duration::from_nanos(now);
            remaining = remaining.min(timeouts.left(elapsed).unwrap_or(FOREVER));
            if !is_first {
                progress.timeout = timeouts.next(progress.timeout, elapsed);
            }
        }
        if is_late || remaining == 0 {
            return Err(Refusal::new(StopReason::TotalTimeout));
        }
        let own = if timeouts.is_some() { progress.timeout } else { self.attempt_timeout };
        Ok(remaining.min(own))
    }

    fn next(
        &self,
        progress: &mut StrategyProgress,
        ask: Ask,
        mut jitter: &mut dyn JitterSource,
    ) -> Result<Wait, Refusal> {
        let now = ask.now;
        let is_spent = match self.strategy.limits.time() {
            Some((limit, TimeRule::Strict | TimeRule::Clip | TimeRule::Check)) => now >= limited(limit),
            _ => false,
        };
        if is_spent || now >= ask.bound {
            return Err(Refusal::new(StopReason::TotalTimeout));
        }
        if self.strategy.limits.max_attempts().is_some_and(|most| ask.counted >= most) {
            return Err(Refusal::new(StopReason::MaxAttempts));
        }
        let drawn = progress.growth.next(&self.strategy.backoff, &mut jitter);
        let own = self.cut(drawn, now);
        let is_asked = !matches!(ask.server_delay, ServerDelay::None | ServerDelay::Never);
        if !is_asked && !self.allows(own, now, progress.waited, ask.bound) {
            return Err(Refusal::of_wait(StopReason::TotalTimeout, Duration::from_nanos(own)));
        }
        let backoff = progress.growth.undrawn(&self.strategy.backoff);
        progress.growth.waited(&self.strategy.backoff, own);
        let left = self.left(now, progress.waited, ask.bound);
        let wait = match ask.server_delay {
            ServerDelay::None | ServerDelay::Never => own,
            ServerDelay::Exactly(asked) if left.is_some_and(|left| limited(asked) >= left) => {
                return Err(Refusal::of_server(asked));
            }
            ServerDelay::Exactly(asked) => limited(asked),
            ServerDelay::AtLeast(asked) => {
                let is_drawn = self.is_jittered() && jitter.is_random();
                let own = Own { backoff, is_drawn, left, unit: limited };
                ask.wait_after(asked, own, &mut jitter).ok_or(Refusal::of_server(asked))?
            }
        };
        progress.waited = progress.waited.saturating_add(wait);
        Ok(Wait(wait))
    }

    fn reset_backoff(&self, progress: &mut StrategyProgress, _: u64) {
        *progress = StrategyProgress { waited: progress.waited, ..self.begin() };
    }
}

impl Strategy {
    fn cut(&self, wait: u64, now: u64) -> u64 {
        match self.strategy.limits.time() {
            Some((limit, TimeRule::Clip)) => wait.min(limited(limit).saturating_sub(now)),
            _ => wait,
        }
    }

    /// How long a wait that the server asks for is too long: it is neither cut nor made without success. `None`: none is.
    fn left(&self, now: u64, waited: u64, bound: u64) -> Option<u64> {
        let own = self.strategy.limits.time().map(|(limit, rule)| match rule {
            TimeRule::Strict | TimeRule::Check => limited(limit).saturating_sub(now),
            TimeRule::Refuse | TimeRule::Clip => limited(limit).saturating_add(1).saturating_sub(now),
            TimeRule::Waits => limited(limit).saturating_add(1).saturating_sub(waited),
        });
        let bound = (bound != FOREVER).then(|| bound.saturating_sub(now));
        [own, bound].into_iter().flatten().min()
    }

    fn allows(&self, wait: u64, now: u64, waited: u64, bound: u64) -> bool {
        let then = now.saturating_add(wait);
        let within = match self.strategy.limits.time() {
            Some((limit, TimeRule::Refuse)) => then <= limited(limit),
            Some((limit, TimeRule::Waits)) => waited.saturating_add(wait) <= limited(limit),
            _ => true,
        };
        within && then < self.wall(bound)
    }
}

#[cfg(test)]
mod tests {
    use crate::operation::{AttemptResult, End, Seen};
    use crate::plan::{Simulated, Simulation};
    use crate::settings::{Override, SettingsOverrides};
    use crate::strategy::{Backoff, BackoffStrategy, Limits, TimeRule};
    use crate::{AttemptPlan, Code, NoJitter, Policy, ServerDelay, StopReason};
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    /// A second after each of four attempts that are refused immediately, with a limit of time by that rule.
    fn policy(limit: Duration, rule: TimeRule) -> Policy {
        let limits = Limits::none().with_max_attempts(4).with_time(limit, rule);
        let backoff = Backoff::exponential(SECOND, 1.0, SECOND);
        Policy::from_strategy(&BackoffStrategy::new(backoff, limits), Code::Unavailable)
    }

    /// The attempts, the end, and why.
    fn refused(policy: &Policy) -> (usize, Duration, Option<StopReason>) {
        let plan = AttemptPlan::refused(policy, &mut NoJitter);
        (plan.attempts().len(), plan.end(), plan.stop_reason())
    }

    #[test]
    fn no_wait_is_made_that_ends_with_the_time() {
        let total = Some(StopReason::TotalTimeout);
        assert_eq!(refused(&policy(2 * SECOND, TimeRule::Strict)), (2, SECOND, total));
        let longer = 2 * SECOND + Duration::from_nanos(1);
        assert_eq!(refused(&policy(longer, TimeRule::Strict)), (3, 2 * SECOND, total));
        assert_eq!(refused(&policy(2 * SECOND, TimeRule::Refuse)), (3, 2 * SECOND, total));
    }

    #[test]
    fn without_retries_it_is_one_attempt() {
        let policy = policy(9 * SECOND, TimeRule::Strict);
        assert_eq!(refused(&policy), (4, 3 * SECOND, Some(StopReason::MaxAttempts)));
        let single = policy.without_retries();
        assert_eq!(refused(&single), (1, Duration::ZERO, Some(StopReason::MaxAttempts)));
    }

    #[test]
    fn a_call_changes_the_limits_of_a_strategy() {
        let policy = policy(9 * SECOND, TimeRule::Strict);
        let two = SettingsOverrides::default().with_max_attempts(Override::Set(2));
        assert_eq!(refused(&policy.clone().with_overrides(&two)), (2, SECOND, Some(StopReason::MaxAttempts)));
        let shorter = SettingsOverrides::default().with_total_timeout(Override::Set(3 * SECOND));
        assert_eq!(
            refused(&policy.with_overrides(&shorter)),
            (3, 2 * SECOND, Some(StopReason::TotalTimeout))
        );
    }

    #[test]
    fn waits_before_a_stream_goes_on_count_as_those_after_it() {
        let policy = policy(2 * SECOND, TimeRule::Waits);
        let (attempts, _) = Simulation::new(&policy, &mut NoJitter).run(|attempt| {
            let seen = if attempt.number() == 2 { Seen::Messages { resumable: true } } else { Seen::Nothing };
            (Some(Duration::ZERO), AttemptResult::failed(Code::Unavailable).with_seen(seen))
        });
        let starts: Vec<_> = attempts.iter().map(crate::Attempt::start).collect();
        assert_eq!(starts, [Duration::ZERO, SECOND, 2 * SECOND]);
    }

    #[test]
    fn delays_grow_anew_once_a_stream_has_brought_messages() {
        let backoff = Backoff::exponential(SECOND, 2.0, 60 * SECOND);
        let strategy = BackoffStrategy::new(backoff, Limits::none().with_time(60 * SECOND, TimeRule::Refuse));
        let policy = Policy::from_strategy(&strategy, Code::Unavailable);
        let (attempts, _) = Simulation::new(&policy, &mut NoJitter).run(|attempt| {
            let seen = if attempt.number() == 3 { Seen::Messages { resumable: true } } else { Seen::Nothing };
            (Some(Duration::ZERO), AttemptResult::failed(Code::Unavailable).with_seen(seen))
        });
        let delays: Vec<_> = attempts.iter().take(6).map(|attempt| attempt.delay().as_secs()).collect();
        assert_eq!(delays, [0, 1, 2, 1, 2, 4]);
    }

    #[test]
    fn a_servers_delay_has_to_leave_time_for_an_attempt() {
        let policy = policy(5 * SECOND, TimeRule::Strict);
        let asked = |delay| {
            let (attempts, end) =
                Simulation::new(&policy, &mut NoJitter).run(|attempt| match attempt.number() {
                    1 => {
                        let busy = AttemptResult::failed(Code::Unavailable);
                        (Some(Duration::ZERO), busy.with_server_delay(ServerDelay::Exactly(delay)))
                    }
                    _ => (Some(Duration::ZERO), AttemptResult::done()),
                });
            let Simulated::Ended(end, at) = end else { panic!("{end:?}") };
            let reason = match end {
                End::Failure(stop) => Some(stop.reason()),
                End::Reply(_) => None,
            };
            (attempts.len(), at, reason)
        };
        let almost = Duration::from_nanos(4_999_999_999);
        assert_eq!(asked(almost), (2, almost, None));
        assert_eq!(asked(5 * SECOND), (1, Duration::ZERO, Some(StopReason::ServerDelayExceedsTotalTimeout)));
    }
}
