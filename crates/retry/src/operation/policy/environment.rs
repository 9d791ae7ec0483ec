//! Policies within the limits that operators set.

use super::Policy;
use crate::{Environment, Hedging};

impl Policy {
    /// This policy, with no more time, attempts or retries than operators allow, whatever calls change later.
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
    pub fn with_environment(self, environment: &Environment) -> Self {
        Self { caps: self.caps.and(environment), ..self }.capped()
    }

    /// The most that operators allow.
    #[must_use]
    pub fn environment(&self) -> Environment {
        self.caps
    }

    /// This policy within its caps, after something was changed. A cap that is there already changes nothing.
    ///
    /// If the program's own settings have no limit, nothing is retried, and the deadline that a cap sets must not turn
    /// retries on: one attempt is made. That is asked of the settings as the program has them, since a call that sets a
    /// separate limit has its retries.
    pub(super) fn capped(mut self) -> Self {
        if self.caps.is_empty() {
            return self;
        }
        let (total, mut attempts) = (self.caps.total_timeout(), self.caps.max_attempts());
        if total.is_some() && self.has_no_limits() {
            attempts = Some(1);
        }
        self.rules.limit_to(total, attempts);
        let hedges = self.hedging.as_ref().map(Hedging::max_attempts);
        let most = attempts.filter(|most| hedges.is_some_and(|hedges| *most < hedges));
        let capped = self.with_first().with_most_hedged(most);
        if capped.caps.retries_are_off() { capped.without_retries() } else { capped }
    }

    /// Returns whether the program's own settings retry nothing because they have no limit.
    fn has_no_limits(&self) -> bool {
        let settings = self.settings.as_deref();
        !self.is_endless
            && self.hedging.is_none()
            && settings.is_some_and(|own| own.total_timeout().is_none() && own.max_attempts().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Override, SettingsOverrides};
    use crate::strategy::{Backoff, BackoffStrategy, Limits, TimeRule};
    use crate::{
        AttemptPlan, Code, CodeSet, Compatibility, MethodKind, NoJitter, RetrySettings, StartedAttempt,
    };
    use std::time::Duration;

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

    /// To set a limit again would make a strategy's limit a strict one, and settings of gax-java those of a call.
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

    const RULES: [Compatibility; 3] =
        [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc];

    #[test]
    fn calls_change_what_the_program_has_set_and_stay_within_the_caps() {
        let caps = environment(&[("GAX_TOTAL_TIMEOUT", "10s"), ("GAX_MAX_ATTEMPTS", "3")]);
        let endless = RetrySettings::builder().initial_retry_delay(SECOND).retry_delay_multiplier(1.0);
        let endless = endless.jittered(false).build().unwrap();
        for compatibility in RULES {
            let of = |settings: &RetrySettings| {
                Policy::with_compatibility(settings, [Code::Unavailable], compatibility)
                    .with_environment(&caps)
            };
            let attempts = |policy: &Policy| AttemptPlan::refused(policy, &mut NoJitter).attempts().len();
            let (unlimited, limited) = (of(&endless), of(&settings(60, 2)));
            assert_eq!((attempts(&unlimited), attempts(&limited)), (1, 2), "{compatibility}");
            let none = SettingsOverrides::default();
            for (overrides, expected) in [
                (none.with_max_attempts(Override::Set(9)), (3, 3)),
                (none.with_max_attempts(Override::Disabled), (1, 3)),
                (none.with_total_timeout(Override::Disabled), (1, 2)),
            ] {
                let changed = |policy: &Policy| attempts(&policy.clone().with_overrides(&overrides));
                assert_eq!(
                    (changed(&unlimited), changed(&limited)),
                    expected,
                    "{compatibility} {overrides:?}"
                );
            }
            let replaced = limited.with_retry_settings(&settings(3600, 9));
            assert_eq!(attempts(&replaced), 3, "{compatibility}");
        }
        // A separate limit gives a call the retries that its method has not: no cap has taken them.
        let policy = Policy::new(&endless, Code::Unavailable)
            .with_environment(&environment(&[("GAX_TOTAL_TIMEOUT", "10s")]));
        let timed = SettingsOverrides::default().with_total_timeout(Override::Set(60 * SECOND));
        assert_eq!(attempts_and_end(&policy.clone().with_overrides(&timed)).0, 10);
        assert_eq!(attempts_and_end(&policy).0, 1);
    }

    type Change = fn(Policy) -> Policy;

    /// Caps and all other changes come in any order.
    #[test]
    fn caps_leave_what_else_was_changed() {
        let caps = environment(&[("GAX_TOTAL_TIMEOUT", "10s")]);
        let changes: [(&str, Change); 5] = [
            ("timeout", |policy| policy.with_attempt_timeout(3 * SECOND)),
            ("single", Policy::without_retries),
            ("no RPC timeouts", Policy::without_rpc_timeouts),
            ("responses", |policy| policy.for_kind(MethodKind::ServerStreaming)),
            ("requests", |policy| policy.for_kind(MethodKind::BidiStreaming)),
        ];
        for compatibility in RULES {
            let policy = Policy::with_compatibility(&settings(60, 4), [Code::Unavailable], compatibility);
            for (name, change) in changes {
                let before = change(policy.clone().with_environment(&caps));
                let after = change(policy.clone()).with_environment(&caps);
                let of = |policy: &Policy| {
                    let first = policy.first_attempt().and_then(StartedAttempt::rpc_timeout);
                    (attempts_and_end(policy), first)
                };
                assert_eq!(of(&before), of(&after), "{compatibility}, {name}");
            }
        }
        let single = Policy::new(&settings(60, 4), [Code::Unavailable]).without_retries();
        assert_eq!(attempts_and_end(&single.with_environment(&caps)).0, 1);
    }

    /// Such a stream needs no limit to be resumed, and operators bound it all the same.
    #[test]
    fn a_stream_without_a_total_is_resumed_until_the_cap() {
        let caps = environment(&[("GAX_TOTAL_TIMEOUT", "10s")]);
        let endless = RetrySettings::builder().initial_retry_delay(SECOND).retry_delay_multiplier(1.0);
        let policy = Policy::new(&endless.jittered(false).build().unwrap(), Code::Unavailable);
        for policy in [
            policy.clone().with_environment(&caps).without_total_timeout(),
            policy.without_total_timeout().with_environment(&caps),
        ] {
            assert_eq!(attempts_and_end(&policy), (10, 10 * SECOND));
        }
    }

    #[test]
    fn the_shorter_of_two_limits_counts() {
        let (long, short) = (&[("GAX_TOTAL_TIMEOUT", "20s")][..], &[("GAX_TOTAL_TIMEOUT", "10s")][..]);
        for (first, second) in [(long, short), (short, long)] {
            let policy = Policy::new(&settings(60, 4), [Code::Unavailable]);
            let policy = policy.with_environment(&environment(first)).with_environment(&environment(second));
            assert_eq!(policy.environment(), environment(short));
            assert_eq!(policy.time_limit(None), Some(10 * SECOND));
        }
    }
}
