//! Policies within the limits that operators set.

use super::Policy;
#[cfg(feature = "strategy")]
use crate::rules::Rules;
use crate::settings::{Override, SettingsOverrides};
use crate::{Environment, Hedging, RetrySettings};
use std::time::Duration;

impl Policy {
    /// This policy, with no more time, attempts or retries than operators allow.
    ///
    /// Limits get shorter by it and never longer, and nothing is retried that wasn't: where the settings have no limit, so
    /// that they retry nothing, an operation has a deadline by it and still one attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{AttemptPlan, Code, Environment, NoJitter, Policy, RetrySettings};
    /// use std::time::Duration;
    ///
    /// let settings = RetrySettings::builder()
    ///     .initial_retry_delay(Duration::from_secs(1))
    ///     .total_timeout(Duration::from_secs(600))
    ///     .build()?;
    /// let environment = Environment::from_variables(|name| (name == "GAX_MAX_ATTEMPTS").then(|| "2".into()))?;
    /// let policy = Policy::new(&settings, [Code::Unavailable]).with_environment(&environment);
    /// assert_eq!(AttemptPlan::refused(&policy, &mut NoJitter).attempts().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_environment(self, environment: &Environment) -> Self {
        if environment.is_empty() {
            return self;
        }
        let total = environment.total_timeout();
        let (own_total, own_attempts) = self.own_limits();
        // A deadline would turn retries on where nothing is retried because no limit is set.
        let needs_limit = total.is_some() && own_total.is_none() && own_attempts.is_none();
        let attempts =
            if needs_limit && self.settings.is_some() { Some(1) } else { environment.max_attempts() };
        let lower_total = total.filter(|total| own_total.is_none_or(|own| *total < own));
        let lower_attempts = attempts.filter(|most| own_attempts.is_none_or(|own| *most < own));
        let set = |overrides: SettingsOverrides| match lower_total {
            Some(total) => overrides.with_total_timeout(Override::Set(total)),
            None => overrides,
        };
        let mut overrides = set(SettingsOverrides::default());
        if let Some(most) = lower_attempts {
            overrides = overrides.with_max_attempts(Override::Set(most));
        }
        let bounded = self.with_overrides(&overrides);
        if environment.retries_are_off() { bounded.without_retries() } else { bounded }
    }

    /// The time and the attempts that its own settings, hedging or strategy allow.
    fn own_limits(&self) -> (Option<Duration>, Option<u32>) {
        let (total, attempts) = match (&self.rules, self.settings.as_deref()) {
            #[cfg(feature = "strategy")]
            (Rules::Strategy(rules), _) => {
                let limits = rules.strategy().limits();
                (limits.time().map(|(time, _)| time), limits.max_attempts())
            }
            (_, Some(settings)) => limits_of(settings),
            (_, None) => (None, None),
        };
        (total, self.hedging.as_ref().map(Hedging::max_attempts).or(attempts))
    }
}

fn limits_of(settings: &RetrySettings) -> (Option<Duration>, Option<u32>) {
    (settings.total_timeout(), settings.max_attempts())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::{Backoff, BackoffStrategy, Limits, TimeRule};
    use crate::{AttemptPlan, Code, CodeSet, Compatibility, NoJitter, StartedAttempt};

    const SECOND: Duration = Duration::from_secs(1);

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let find = |name| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
        Environment::from_variables(find).unwrap()
    }

    /// How many attempts a refusing server gets, and when one that hangs makes the operation end.
    fn attempts_and_end(policy: &Policy) -> (usize, Duration) {
        let refused = AttemptPlan::refused(policy, &mut NoJitter).attempts().len();
        (refused, AttemptPlan::new(policy, &[], &mut NoJitter).end())
    }

    fn settings(total: u64, attempts: u32) -> RetrySettings {
        let delays = RetrySettings::builder().initial_retry_delay(SECOND).initial_rpc_timeout(2 * SECOND);
        delays.total_timeout(Duration::from_secs(total)).max_attempts(attempts).build().unwrap()
    }

    #[test]
    fn limits_get_shorter_and_never_longer() {
        for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
            let policy = Policy::with_compatibility(
                &settings(60, 4),
                [Code::Unavailable, Code::DeadlineExceeded],
                compatibility,
            );
            let with =
                |variables| attempts_and_end(&policy.clone().with_environment(&environment(variables))).0;
            assert_eq!(with(&[]), 4, "{compatibility}");
            assert_eq!(with(&[("GAX_MAX_ATTEMPTS", "2")]), 2, "{compatibility}");
            assert_eq!(with(&[("GAX_MAX_ATTEMPTS", "9"), ("GAX_TOTAL_TIMEOUT", "9h")]), 4, "{compatibility}");
            assert_eq!(with(&[("GAX_RETRIES", "off"), ("GAX_MAX_ATTEMPTS", "9")]), 1, "{compatibility}");
        }
    }

    /// To set a limit once more would make a strategy's limit a strict one, and settings of gax-java those of a call.
    #[test]
    fn a_limit_that_is_no_shorter_changes_nothing() {
        let limits = Limits::none().with_time(2 * SECOND, TimeRule::Refuse);
        let backoff = Backoff::exponential(SECOND, 1.0, SECOND);
        let strategy = Policy::from_strategy(&BackoffStrategy::new(backoff, limits), Code::Unavailable);
        for (total, attempts) in [("2s", 3), ("1999ms", 2)] {
            let bounded = strategy.clone().with_environment(&environment(&[("GAX_TOTAL_TIMEOUT", total)]));
            assert_eq!(attempts_and_end(&bounded).0, attempts, "{total}");
        }

        let settings = RetrySettings::builder().initial_rpc_timeout(SECOND).total_timeout(10 * SECOND);
        let single = Policy::with_compatibility(
            &settings.max_attempts(1).build().unwrap(),
            Code::Unavailable,
            Compatibility::GaxJava,
        );
        let bounded = single.with_environment(&environment(&[("GAX_MAX_ATTEMPTS", "1")]));
        assert_eq!(bounded.first_attempt().and_then(StartedAttempt::rpc_timeout), Some(10 * SECOND));
    }

    #[test]
    fn no_operation_takes_longer() {
        let policy = Policy::new(&settings(60, 4), [Code::DeadlineExceeded]);
        let bounded = policy.with_environment(&environment(&[("GAX_TOTAL_TIMEOUT", "4s")]));
        // One attempt of 2 s, a second of waiting, and what is left of the four.
        assert_eq!(attempts_and_end(&bounded).1, 4 * SECOND);
    }

    #[test]
    fn a_deadline_turns_no_retries_on() {
        let endless = RetrySettings::builder().initial_retry_delay(SECOND).build().unwrap();
        let policy = Policy::new(&endless, [Code::Unavailable]);
        assert_eq!(AttemptPlan::refused(&policy, &mut NoJitter).attempts().len(), 1);
        let bounded = policy.with_environment(&environment(&[("GAX_TOTAL_TIMEOUT", "10s")]));
        assert_eq!(attempts_and_end(&bounded), (1, 10 * SECOND));
    }

    #[test]
    fn a_deadline_leaves_the_number_of_attempts_alone_where_there_is_one_of_its_own() {
        let timed = RetrySettings::builder().initial_retry_delay(SECOND).total_timeout(60 * SECOND);
        let counted = RetrySettings::builder().initial_retry_delay(SECOND).max_attempts(5);
        for (settings, variables, attempts) in [
            (timed.clone(), &[("GAX_TOTAL_TIMEOUT", "10s")][..], 10),
            (timed, &[("GAX_TOTAL_TIMEOUT", "10s"), ("GAX_MAX_ATTEMPTS", "3")], 3),
            (counted.clone(), &[("GAX_TOTAL_TIMEOUT", "10s")], 5),
            (counted, &[("GAX_TOTAL_TIMEOUT", "2500ms")], 3),
        ] {
            let policy = Policy::new(
                &settings.retry_delay_multiplier(1.0).jittered(false).build().unwrap(),
                Code::Unavailable,
            );
            let bounded = policy.with_environment(&environment(variables));
            assert_eq!(attempts_and_end(&bounded).0, attempts, "{variables:?}");
        }
    }

    #[test]
    fn hedges_count_as_attempts() {
        let hedged = Policy::new(&RetrySettings::no_retry(5 * SECOND), CodeSet::EMPTY)
            .with_hedging(Hedging::new(4).non_fatal_codes(Code::Unavailable));
        let most = |variables| {
            let policy = hedged.clone().with_environment(&environment(variables));
            policy.hedging().map(Hedging::max_attempts)
        };
        assert_eq!(most(&[("GAX_MAX_ATTEMPTS", "9")]), Some(4));
        assert_eq!(most(&[("GAX_MAX_ATTEMPTS", "2")]), Some(2));
        assert_eq!(most(&[("GAX_MAX_ATTEMPTS", "1")]), None);
        assert_eq!(most(&[("GAX_RETRIES", "off")]), None);
    }
}
