//! A formula and its limits.

use super::{AttemptTimeouts, Backoff, Limits};
use crate::settings::SettingsOverrides;
use std::time::Duration;

/// A back-off formula and its limits, which a [`Policy`](crate::Policy) can use instead of
/// [`RetrySettings`](crate::RetrySettings).
///
/// # Examples
///
/// Cloud Storage's documents: min(2^n + random milliseconds, 64 s), for up to 600 s.
///
/// ```
/// use gax_retry::{AttemptPlan, Code, Policy, Response};
/// use gax_retry::jitter::ScriptedJitter;
/// use gax_retry::strategy::{Backoff, Jitter, Limits, BackoffStrategy, TimeRule};
/// use std::time::Duration;
///
/// let s = Duration::from_secs;
/// let ms = Duration::from_millis;
/// let strategy = BackoffStrategy::new(
///     Backoff::exponential(s(1), 2.0, s(64)).with_jitter(Jitter::Added { unit: ms(1), most: 1000 }),
///     Limits::none().with_time(s(600), TimeRule::Strict),
/// );
/// let policy = Policy::from_strategy(&strategy, Code::Unavailable);
/// let refused = [Response::after(s(0), Code::Unavailable); 20];
/// let plan = AttemptPlan::new(&policy, &refused, &mut ScriptedJitter::new([0.5]));
/// let waits: Vec<_> = plan.attempts().iter().map(|attempt| attempt.delay().as_millis()).collect();
/// assert_eq!(waits, [0, 1500, 2500, 4500, 8500, 16_500, 32_500, 64_000, 64_000, 64_000, 64_000,
///     64_000, 64_000, 64_000, 64_000]);
/// assert_eq!(plan.end(), s(578));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct BackoffStrategy {
    pub(crate) backoff: Backoff,
    pub(crate) limits: Limits,
    pub(crate) attempt_timeouts: Option<AttemptTimeouts>,
    pub(crate) max_server_delay: Option<Duration>,
}

impl BackoffStrategy {
    /// A strategy of these two.
    pub fn new(backoff: Backoff, limits: Limits) -> Self {
        Self { backoff, limits, attempt_timeouts: None, max_server_delay: None }
    }

    gax_text::getters! {
        /// The formula.
        backoff: Backoff;

        /// The limits.
        limits: Limits;

        /// The longest delay that a server may ask for (`Retry-After`) if no limit by time bounds the operation; unset, it
        /// is the formula's maximum, or 60 s if that is longer.
        max_server_delay: Option<Duration>;
    }

    /// How long each attempt may take; `None`: as long as the limits and the caller allow.
    #[must_use]
    pub fn attempt_timeouts(&self) -> Option<AttemptTimeouts> {
        self.attempt_timeouts
    }

    gax_text::setters! { self:
        /// The strategy with that time for each attempt, or with none. A call's own attempt timeout takes its place.
        pub with_attempt_timeouts(timeouts: impl Into<Option<AttemptTimeouts>>) => self.attempt_timeouts = timeouts.into();

        /// The strategy with another formula.
        pub with_backoff(backoff: Backoff) => self.backoff = backoff;

        /// The strategy with other limits.
        pub with_limits(limits: Limits) => self.limits = limits;

        /// The strategy with another limit to the delays that servers ask for.
        pub with_max_server_delay(delay: impl Into<Option<Duration>>) => self.max_server_delay = delay.into();
    }

    /// The strategy as one call changes it. A total timeout replaces its limit by time, and no attempt outlives it.
    pub(crate) fn with_overrides(self, overrides: &SettingsOverrides) -> Self {
        let mut backoff = self.backoff;
        if let Some(delay) = overrides.initial_retry_delay() {
            backoff = backoff.with_initial(delay);
        }
        if let Some(multiplier) = overrides.retry_delay_multiplier() {
            backoff = backoff.with_multiplier(multiplier);
        }
        if let Some(delay) = overrides.max_retry_delay() {
            backoff = backoff.with_max(delay);
        }
        let limits = self.limits.with_overrides(overrides.total_timeout(), overrides.max_attempts());
        self.with_backoff(backoff).with_limits(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Override;
    use crate::strategy::TimeRule;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_a_call_does_not_change_stays() {
        let own = BackoffStrategy::new(
            Backoff::exponential(20 * MS, 1.5, 90 * MS),
            Limits::none().with_max_attempts(4).with_time(1000 * MS, TimeRule::Clip),
        );
        let none = SettingsOverrides::default();
        assert_eq!(own.with_overrides(&none), own);
        let patient = none.with_total_timeout(Override::Disabled).with_max_retry_delay(50 * MS);
        let expected = BackoffStrategy::new(
            Backoff::exponential(20 * MS, 1.5, 50 * MS),
            Limits::none().with_max_attempts(4),
        );
        assert_eq!(own.with_overrides(&patient), expected);
        let endless = none.with_max_attempts(Override::Disabled).with_initial_retry_delay(30 * MS);
        let expected = BackoffStrategy::new(
            Backoff::exponential(30 * MS, 1.5, 90 * MS),
            Limits::none().with_time(1000 * MS, TimeRule::Clip),
        );
        assert_eq!(own.with_overrides(&endless), expected);
    }
}
