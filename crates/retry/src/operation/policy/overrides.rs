//! Policies of calls that change their method's settings.

use super::Policy;
use crate::gax_java::RawSettings;
use crate::operation::Next;
use crate::rules::{Documented, GaxJava, Grpc, Rules};
use crate::settings::{Override, SettingsOverrides};
use crate::{IntoCodes, MethodKind, RetrySettings, ServerDelay};
use std::sync::Arc;
use std::time::Duration;

impl Policy {
    /// This policy with the settings of one call instead of its own.
    ///
    /// By gax-java's rules, a call's settings are used as they are: its RPC timeouts apply even if the settings allow
    /// only one attempt, and jitter is that of the client.
    pub fn with_retry_settings(self, settings: &RetrySettings) -> Self {
        self.with_changed(settings, false).capped()
    }

    /// This policy with the settings of one call, by gax-java's rules.
    pub fn with_raw_settings(self, settings: &RawSettings) -> Self {
        let mut rules = match &self.rules {
            Rules::GaxJava(rules) => rules.clone(),
            _ => GaxJava::new(settings, self.codes),
        };
        rules.replace_settings(settings);
        let mut policy = self.spent(false);
        policy.settings = Some(Arc::new(settings.as_set()));
        policy.with_rules(Rules::GaxJava(rules)).capped()
    }

    /// This policy with the retryable codes of one call instead of its own.
    ///
    /// By gax-java's rules, codes alone can't turn retries on for a method without retries: that needs settings as
    /// well.
    pub fn with_retryable_codes<K>(self, codes: impl IntoCodes<K>) -> Self {
        self.with_codes(codes.into_codes())
    }

    /// This policy with single fields of its settings changed by one call; the others stay as they are.
    ///
    /// Apply a call's codes ([`with_retryable_codes`](Self::with_retryable_codes)) and the rules for streams
    /// ([`without_rpc_timeouts`](Self::without_rpc_timeouts)) after it. A total timeout replaces a strategy's time
    /// limit, and no attempt outlives it.
    ///
    /// By gax-java's rules, the resulting settings are used as they are, like those of
    /// [`with_retry_settings`](Self::with_retry_settings). If only timeouts are set, the method's settings stay: no timeout
    /// turns retries on, and if they are off, the attempt's RPC timeout is the total timeout unless the call sets it.
    ///
    /// If the method is hedged, the number of attempts also limits its hedges.
    ///
    /// If the result is invalid, no attempt is made ([`problem`](Self::problem)): zero attempts, a multiplier that is
    /// below 1 or not finite, or a longest delay below the first one.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Code, Policy, RetrySettings};
    /// use gax_retry::settings::{Override, SettingsOverrides};
    /// use std::time::Duration;
    ///
    /// let policy = Policy::new(&RetrySettings::no_retry(Duration::from_secs(60)), Code::Unavailable);
    /// let none = SettingsOverrides::default().with_max_attempts(Override::Set(0));
    /// assert_eq!(
    ///     policy.with_overrides(&none).problem().unwrap().to_string(),
    ///     "retry settings are not valid: max_attempts is 0, but must be at least 1 (the first attempt counts)",
    /// );
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn with_overrides(self, overrides: &SettingsOverrides) -> Self {
        if overrides.is_empty() {
            return self;
        }
        let (initial, max) = self.delays();
        let problems = overrides.problems(initial, max);
        let changed = match &self.rules {
            #[cfg(feature = "strategy")]
            Rules::Strategy(rules) => {
                let strategy = rules.with_overrides(overrides);
                self.with_rules(Rules::Strategy(strategy))
            }
            _ => {
                let changed = match &self.settings {
                    Some(own) => overrides.over(own),
                    None => overrides.over(&RetrySettings::default()),
                };
                self.with_changed(&changed, overrides.is_timeouts_only())
            }
        };
        let is_spent = overrides.total_timeout() == Override::Set(Duration::ZERO);
        let changed = if is_spent { changed.spent(true) } else { changed };
        let changed = match overrides.rpc_timeout() {
            Override::Unset => changed,
            Override::Set(timeout) => changed.with_attempt_timeout(timeout),
            Override::Disabled => changed.without_rpc_timeouts(),
        };
        changed.with_most_hedged(overrides.max_attempts().over(None)).unusable(problems).capped()
    }

    /// This policy without the total timeout of its settings, for streams that outlive their connections. They need no limit to
    /// be resumed; a number of attempts, if one is set, is that of attempts in a row that deliver nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Code, Policy, RetrySettings};
    ///
    /// let settings = RetrySettings::builder().total_timeout(std::time::Duration::from_secs(60)).build()?;
    /// let policy = Policy::new(&settings, Code::Unavailable).without_total_timeout();
    /// assert_eq!(policy.time_limit(None), None);
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    pub fn without_total_timeout(self) -> Self {
        let lifted = SettingsOverrides::default().with_total_timeout(Override::Disabled);
        Self { is_endless: true, ..self }.with_overrides(&lifted)
    }

    /// The wait before a stream is resumed: a millisecond at least, whatever the settings say, unless the server asks for less. A
    /// server that ends each stream immediately must not keep a processor busy. (Not by gax-java's rules.)
    pub(in crate::operation) fn before_resume(&self, wait: u64, server_delay: ServerDelay) -> u64 {
        const MIN: u64 = 1_000_000;
        let is_asked = matches!(server_delay, ServerDelay::Exactly(_));
        if is_asked || self.rules.are_gax_javas() { wait } else { wait.max(MIN) }
    }

    /// The wait before a poll: ten milliseconds at least, whatever the settings say, unless the server has done its part of the
    /// waiting. (Not by gax-java's rules.)
    pub(in crate::operation) fn before_poll(&self, next: Next, wait: u64) -> u64 {
        const MIN: u64 = 10_000_000;
        if next == Next::Now || self.rules.are_gax_javas() { wait } else { wait.max(MIN) }
    }

    /// A number of attempts that a call sets is also that of its hedges.
    pub(super) fn with_most_hedged(mut self, attempts: Option<u32>) -> Self {
        match (&mut self.hedging, attempts) {
            (Some(_), Some(1)) => self.with_hedging(None),
            (Some(hedging), Some(attempts)) => {
                hedging.set_max_attempts(attempts);
                self
            }
            _ => self,
        }
    }

    /// The first and the longest delay that are set.
    fn delays(&self) -> (Option<Duration>, Option<Duration>) {
        match (&self.rules, &self.settings) {
            #[cfg(feature = "strategy")]
            (Rules::Strategy(rules), _) => {
                let backoff = rules.strategy().backoff();
                (Some(backoff.initial()), Some(backoff.max()))
            }
            (_, Some(settings)) => (settings.initial_retry_delay, settings.max_retry_delay),
            (_, None) => (None, None),
        }
    }

    /// The policy with these settings instead of its own. By gax-java's rules timeouts by themselves leave them the method's.
    fn with_changed(self, settings: &RetrySettings, is_timeouts_only: bool) -> Self {
        let rules = match &self.rules {
            Rules::Grpc(_) => Rules::Grpc(Grpc::new(settings)),
            Rules::GaxJava(rules) => {
                Rules::GaxJava(rules.with_changed(&RawSettings::from(settings), is_timeouts_only))
            }
            // No call changes when an operation is polled.
            #[cfg(feature = "polling")]
            Rules::Polls(_) => return self,
            _ => Rules::Documented(Documented::new(settings)),
        };
        self.with_rules(rules).made_of(settings)
    }

    /// This policy with one attempt for each operation, whatever the settings, hedging and calls say: retries are
    /// switched off. Timeouts stay, and a request that provably was not sent is still sent again.
    pub fn without_retries(mut self) -> Self {
        self.rules.limit_to(None, Some(1));
        self.with_first().with_hedging(None)
    }

    /// This policy with that timeout for every attempt.
    ///
    /// It is clamped to what is left of the total; by gax-java's rules it is not. Zero: no time is left for any
    /// attempt.
    pub fn with_attempt_timeout(mut self, timeout: Duration) -> Self {
        if timeout.is_zero() {
            return self.spent(true);
        }
        match &mut self.rules {
            Rules::Documented(rules) => rules.set_attempt_timeout(timeout),
            Rules::GaxJava(rules) => rules.set_attempt_timeout(timeout),
            Rules::Grpc(rules) => rules.set_attempt_timeout(timeout),
            #[cfg(feature = "strategy")]
            Rules::Strategy(rules) => rules.set_attempt_timeout(timeout),
            #[cfg(feature = "polling")]
            Rules::Polls(rules) => rules.set_attempt_timeout(timeout),
        }
        self.with_first()
    }

    /// This policy without a timeout of each attempt's own: for an RPC that replies with a stream, which may well
    /// be long where its parts are not. An attempt may take all that is left of the total.
    ///
    /// By gax-java's rules it stays as it is: there the RPC timeout bounds the whole stream.
    pub fn without_rpc_timeouts(mut self) -> Self {
        match &mut self.rules {
            Rules::Documented(rules) => rules.remove_rpc_timeouts(),
            Rules::Grpc(rules) => rules.remove_attempt_timeout(),
            #[cfg(feature = "strategy")]
            Rules::Strategy(rules) => rules.remove_attempt_timeout(),
            Rules::GaxJava(_) => {}
            #[cfg(feature = "polling")]
            Rules::Polls(_) => return self,
        }
        self.with_first()
    }
}

impl Policy {
    /// This policy for RPCs of that kind. With a stream on either side, no attempt has a separate timeout
    /// ([`without_rpc_timeouts`](Self::without_rpc_timeouts)).
    ///
    /// By gax-java's rules an RPC that takes a stream has no retry settings at all: neither an RPC timeout nor a total
    /// timeout, except for what the call sets.
    pub fn for_kind(self, kind: MethodKind) -> Self {
        match &self.rules {
            _ if kind.is_unary() => self,
            Rules::GaxJava(rules) if kind.streams_requests() => {
                let rules = rules.without_settings();
                self.with_rules(Rules::GaxJava(rules)).capped()
            }
            _ => self.without_rpc_timeouts(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::{Backoff, BackoffStrategy, Limits};
    use crate::{AttemptPlan, Code, CodeSet, Compatibility, Hedging, NoJitter};

    #[test]
    fn a_call_s_number_of_attempts_is_that_of_its_hedges() {
        let hedged = Policy::new(&RetrySettings::no_retry(Duration::from_secs(5)), CodeSet::EMPTY)
            .with_hedging(Hedging::new(4).non_fatal_codes(Code::Unavailable));
        let most = |attempts| {
            let overrides = SettingsOverrides::default().with_max_attempts(attempts);
            hedged.clone().with_overrides(&overrides).hedging().map(Hedging::max_attempts)
        };
        assert_eq!(most(Override::Unset), Some(4));
        assert_eq!(most(Override::Disabled), Some(4));
        assert_eq!(most(Override::Set(2)), Some(2));
        assert_eq!(most(Override::Set(1)), None);
        assert_eq!(hedged.without_retries().hedging(), None);
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn first_timeout(policy: &Policy) -> Option<Duration> {
        policy.first_attempt().and_then(crate::StartedAttempt::rpc_timeout)
    }

    #[test]
    fn settings_that_a_call_brings_along_have_time_where_the_methods_had_none() {
        for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
            let spent = RetrySettings::no_retry(Duration::ZERO);
            let policy = Policy::with_compatibility(&spent, Code::Unavailable, compatibility);
            assert_eq!(policy.first_attempt(), None, "{compatibility}");
            let policy = policy.with_retry_settings(&RetrySettings::no_retry(5 * SECOND));
            assert_eq!(first_timeout(&policy), Some(5 * SECOND), "{compatibility}");
        }
    }

    /// gax-java's streams of requests have no settings, and a call's own timeout all the same.
    #[test]
    fn what_a_call_sets_bounds_a_stream_of_requests_by_gax_java_s_rules_and_nothing_else_does() {
        let settings =
            RetrySettings::builder().initial_rpc_timeout(SECOND).total_timeout(10 * SECOND).build().unwrap();
        let policy = Policy::with_compatibility(&settings, Code::Unavailable, Compatibility::GaxJava);
        let of = |policy: &Policy, kind| first_timeout(&policy.clone().for_kind(kind));
        let called = policy.clone().with_attempt_timeout(20 * SECOND);
        for kind in [MethodKind::ClientStreaming, MethodKind::BidiStreaming] {
            assert_eq!((of(&policy, kind), of(&called, kind)), (None, Some(20 * SECOND)), "{kind}");
        }
        assert_eq!(of(&policy, MethodKind::ServerStreaming), Some(SECOND));
        let documented = Policy::new(&settings, Code::Unavailable);
        for kind in [MethodKind::Unary, MethodKind::Paged] {
            assert_eq!((of(&policy, kind), of(&documented, kind)), (Some(SECOND), Some(SECOND)), "{kind}");
        }
        assert_eq!(of(&documented, MethodKind::BidiStreaming), Some(10 * SECOND));
    }

    /// By gax-java's rules the RPC timeouts of settings that turn retries off are not looked at, unless a call brought
    /// the settings along.
    #[test]
    fn a_total_alone_leaves_the_settings_the_methods_own() {
        let settings =
            RetrySettings::builder().initial_rpc_timeout(SECOND).total_timeout(10 * SECOND).build().unwrap();
        let method = Policy::with_compatibility(&settings, CodeSet::EMPTY, Compatibility::GaxJava);
        let shorter = SettingsOverrides::default().with_total_timeout(Override::Set(5 * SECOND));
        let changed = |policy: &Policy| first_timeout(&policy.clone().with_overrides(&shorter));
        assert_eq!((first_timeout(&method), changed(&method)), (Some(10 * SECOND), Some(5 * SECOND)));
        let called = method.with_retry_settings(&settings);
        assert_eq!((first_timeout(&called), changed(&called)), (Some(SECOND), Some(SECOND)));
    }

    #[test]
    fn what_can_not_work_is_the_policys_problem() {
        let policy = Policy::new(&RetrySettings::no_retry(SECOND), CodeSet::EMPTY);
        assert_eq!(policy.problem(), None);
        let none = SettingsOverrides::default().with_max_attempts(Override::Set(0));
        let policy = policy.with_overrides(&none);
        let problems = policy.problem().map(|error| error.problems().to_vec()).unwrap_or_default();
        assert_eq!(
            problems.iter().map(crate::settings::SettingsProblem::field).collect::<Vec<_>>(),
            ["max_attempts"]
        );
        assert_eq!(policy.first_attempt(), None);
    }

    /// A call that changes one of the two delays has to fit the other one, which is the policy's.
    #[test]
    fn a_longest_delay_below_the_first_one_is_a_problem_wherever_they_are_from() {
        let settings = RetrySettings::builder()
            .initial_retry_delay(2 * SECOND)
            .max_retry_delay(10 * SECOND)
            .max_attempts(4);
        let backoff = Backoff::exponential(2 * SECOND, 2.0, 10 * SECOND);
        for policy in [
            Policy::new(&settings.build().unwrap(), Code::Unavailable),
            Policy::from_strategy(&BackoffStrategy::new(backoff, Limits::none()), Code::Unavailable),
        ] {
            let none = SettingsOverrides::default();
            for (overrides, works) in [
                (none.with_max_retry_delay(2 * SECOND), true),
                (none.with_max_retry_delay(SECOND), false),
                (none.with_initial_retry_delay(10 * SECOND), true),
                (none.with_initial_retry_delay(11 * SECOND), false),
            ] {
                assert_eq!(
                    policy.clone().with_overrides(&overrides).problem().is_none(),
                    works,
                    "{overrides:?}"
                );
            }
        }
    }

    #[test]
    fn settings_as_java_has_them_are_changed_field_by_field_too() {
        let raw = RawSettings {
            initial_retry_delay_us: 100_000,
            retry_delay_multiplier: 2.0,
            max_retry_delay_us: 400_000,
            max_attempts: 4,
            jittered: false,
            ..RawSettings::default()
        };
        let three = SettingsOverrides::default().with_max_attempts(Override::Set(3));
        let policy = Policy::gax_java(&raw, Code::Unavailable).with_overrides(&three);
        let plan = AttemptPlan::refused(&policy, &mut NoJitter);
        let starts: Vec<_> = plan.attempts().iter().map(|attempt| attempt.start().as_millis()).collect();
        assert_eq!(starts, [0, 100, 300]);
    }
}
