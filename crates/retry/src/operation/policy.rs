//! The rules that the operations of one RPC have in common.

mod environment;
mod hedged;
mod nested;
mod overrides;

use super::hedging::Hedging;
use super::latencies::Latencies;
use super::{AttemptResult, Delivery, RetryFact, World};
#[cfg(feature = "polling")]
use crate::gax_java::Polling;
use crate::gax_java::RawSettings;
use crate::nanos::{FOREVER, bounded, nanos_or_forever};
#[cfg(feature = "polling")]
use crate::rules::Polls;
#[cfg(feature = "strategy")]
use crate::rules::Strategy;
use crate::rules::{Documented, GaxJava, Grpc, Progress, Refusal, Rules, longest, longest_of};
use crate::settings::SettingsProblem;
#[cfg(feature = "strategy")]
use crate::strategy::BackoffStrategy;
use crate::{
    Code, CodeSet, Compatibility, Environment, IntoCodes, ParseCodeError, RetryBudget, RetrySettings,
    ServerDelay, SettingsError, StartedAttempt, StopReason,
};
use nested::Nested;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// The settings and retryable codes of one RPC, made ready to run operations by.
///
/// Making one costs a little, using it next to nothing, so make it once for each RPC. A policy never changes; the
/// progress of an operation is in its [`Operation`](super::Operation).
///
/// # Examples
///
/// ```
/// use gax_retry::{AttemptPlan, Code, NoJitter, Policy, RetrySettings};
/// use std::time::Duration;
///
/// let settings = RetrySettings::builder()
///     .initial_retry_delay(Duration::from_secs(1))
///     .retry_delay_multiplier(2.0)
///     .max_attempts(3)
///     .initial_rpc_timeout(Duration::from_secs(2))
///     .build()?;
/// let policy = Policy::new(&settings, [Code::Unavailable, Code::DeadlineExceeded]);
/// assert_eq!(AttemptPlan::new(&policy, &[], &mut NoJitter).end(), Duration::from_secs(2 + 1 + 2 + 2 + 2));
/// # Ok::<(), gax_retry::SettingsError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Policy {
    pub(super) rules: Rules,
    pub(super) codes: CodeSet,
    pub(super) hedging: Option<Hedging>,
    /// The latencies that a percentile is worked out from.
    latencies: Option<Arc<Latencies>>,
    pub(super) budget: Option<RetryBudget>,
    pub(super) commits_at: CommitPoint,
    heeds: Heeds,
    nested: Nested,
    /// The longest that a server may ask for if no total bounds the operation.
    pub(crate) max_server_delay: Duration,
    /// The codes that are only retried if the server asks for a delay.
    only_with_server_delay: CodeSet,
    /// The settings that the rules were made of, for calls that change single fields; `None`: of no settings.
    pub(super) settings: Option<Arc<RetrySettings>>,
    /// `true` if attempts may follow each other although neither a time nor a number limits them.
    pub(super) is_endless: bool,
    /// The most that operators allow. The rules and the hedging are within it; the settings are as the program has them.
    caps: Environment,
    /// The program left no time for any attempt: it passed a timeout of zero.
    is_spent: bool,
    /// Why it can't be carried out, so that no attempt is made.
    problem: Option<Arc<SettingsError>>,
    /// The version of the settings that it was made of, where they can be replaced.
    version: Option<NonZeroU64>,
    /// The first attempt of an operation that nothing delays.
    pub(super) first: Result<StartedAttempt, Refusal>,
    /// How far back-off has come with it. A caller's own deadline makes no difference: whatever a timeout that it has cut
    /// would grow to, there is less time left.
    pub(super) after_first: Progress,
}

/// The point of an attempt at which the operation is committed to it, so that no other attempt may follow. Later
/// points are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a response has headers, then messages, and a request has its buffer"
)]
pub enum CommitPoint {
    /// The headers of its response (gRFC A6).
    Headers,
    /// The first message of its response.
    FirstMessage,
    /// More of the request was sent than is buffered, so that no other attempt could be sent the whole of it (gRFC A6). This
    /// commits under every policy.
    OverLimit,
}

/// Which of the server's wishes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heeds {
    All,
    Pushback,
    Nothing,
}

impl Policy {
    /// The policy of [`Compatibility::Documented`].
    pub fn new<K>(settings: &RetrySettings, codes: impl IntoCodes<K>) -> Self {
        Self::with_compatibility(settings, codes, Compatibility::Documented)
    }

    /// The policy by that library's rules.
    pub fn with_compatibility<K>(
        settings: &RetrySettings,
        codes: impl IntoCodes<K>,
        compatibility: Compatibility,
    ) -> Self {
        let codes = codes.into_codes();
        let set = codes.clone().unwrap_or_default();
        let rules = match compatibility {
            Compatibility::Documented => Rules::Documented(Documented::new(settings)),
            Compatibility::GaxJava => Rules::GaxJava(GaxJava::new(&RawSettings::from(settings), set)),
            Compatibility::Grpc => Rules::Grpc(Grpc::new(settings)),
        };
        Self::of(rules, codes).made_of(settings)
    }

    /// The policy of [`Compatibility::GaxJava`] for settings as Java holds them, valid or not.
    pub fn gax_java<K>(settings: &RawSettings, codes: impl IntoCodes<K>) -> Self {
        let codes = codes.into_codes();
        let rules = Rules::GaxJava(GaxJava::new(settings, codes.clone().unwrap_or_default()));
        Self { settings: Some(Arc::new(settings.as_set())), ..Self::of(rules, codes) }
    }

    /// The policy that waits and gives up as another tool or library does.
    #[cfg(feature = "strategy")]
    pub fn from_strategy<K>(strategy: &BackoffStrategy, codes: impl IntoCodes<K>) -> Self {
        let policy = Self::of(Rules::Strategy(Strategy::new(*strategy)), codes.into_codes());
        let max_server_delay = longest(strategy.max_server_delay, Some(strategy.backoff.max()));
        Self { max_server_delay, ..policy }
    }

    /// Returns whether no wait is longer than the back-off's delay, jitter or not.
    #[cfg(feature = "plan")]
    pub(crate) fn waits_no_longer_than_delays(&self) -> bool {
        matches!(self.rules, Rules::Documented(_) | Rules::GaxJava(_))
    }

    /// The policy of an operation that starts a long-running operation and polls until it is done.
    #[cfg(feature = "polling")]
    pub fn polling(polling: Polling) -> Self {
        Self::of(Rules::Polls(Polls::new(polling)), Ok(CodeSet::EMPTY))
    }

    /// The policy of polls by that library's rules, until a long-running operation is done: the delays and limits of `settings`
    /// decide when the next poll follows. Every attempt is a poll, including the first. This policy retries no errors; each
    /// poll may be an operation with its own retries.
    ///
    /// By gax-java's rules, this is [`polling`](Self::polling). By the others, the wait before a poll is drawn from the upper half of
    /// its delay, and an attempt may take all of the remaining total timeout.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{Compatibility, Policy, RetrySettings};
    /// use std::time::Duration;
    ///
    /// let settings = RetrySettings::builder().total_timeout(Duration::from_secs(300)).build()?;
    /// let policy = Policy::for_polls(&settings, Compatibility::Documented);
    /// assert_eq!(policy.first_attempt().and_then(|first| first.rpc_timeout()), Some(Duration::from_secs(300)));
    /// # Ok::<(), gax_retry::SettingsError>(())
    /// ```
    #[cfg(feature = "polling")]
    pub fn for_polls(settings: &RetrySettings, compatibility: Compatibility) -> Self {
        match compatibility {
            Compatibility::GaxJava => Self::polling(Polling::new(&RawSettings::from(settings))),
            // gRPC knows no polls: neither its limit of five attempts nor its jitter is for them.
            _ => Self::new(settings, CodeSet::EMPTY).without_rpc_timeouts(),
        }
    }

    fn of(rules: Rules, codes: Result<CodeSet, ParseCodeError>) -> Self {
        let (commits_at, heeds) = if let Rules::Grpc(_) = rules {
            (CommitPoint::Headers, Heeds::Pushback)
        } else if let Rules::GaxJava(_) = rules {
            (CommitPoint::FirstMessage, Heeds::Nothing)
        } else {
            (CommitPoint::FirstMessage, Heeds::All)
        };
        let (first, after_first) = first(&rules);
        let max_server_delay = longest(None, None);
        let policy = Self {
            rules,
            codes: CodeSet::EMPTY,
            hedging: None,
            latencies: None,
            budget: None,
            commits_at,
            heeds,
            nested: Nested::Allowed,
            max_server_delay,
            only_with_server_delay: CodeSet::EMPTY,
            settings: None,
            is_endless: false,
            caps: Environment::default(),
            is_spent: false,
            problem: None,
            version: None,
            first,
            after_first,
        };
        policy.with_codes(codes)
    }

    gax_text::setters! { self:
        /// This policy, made from that version of replaceable settings, counted from 1. Zero: the settings are never
        /// replaced.
        pub with_version(version: u64) => self.version = NonZeroU64::new(version);

        /// This policy with a budget, which it may share with others: retries and hedges draw on it. `None`: without one.
        pub with_budget(budget: impl Into<Option<RetryBudget>>) => self.budget = budget.into();

        /// This policy with another moment at which a response is the operation's.
        pub with_commit_point(commits_at: CommitPoint) => self.commits_at = commits_at;

        /// This policy with all that servers ask for applied, or nothing of it, instead of what its rules heed:
        /// everything, by gRPC's rules the pushback only, by gax-java's nothing.
        pub with_server_delays(heeded: bool) => self.heeds = if heeded { Heeds::All } else { Heeds::Nothing };
    }

    pub(super) fn with_rules(self, rules: Rules) -> Self {
        Self { rules, ..self }.with_first()
    }

    /// The policy whose rules were made of these settings.
    pub(super) fn made_of(mut self, settings: &RetrySettings) -> Self {
        self.max_server_delay = longest_of(settings);
        self.only_with_server_delay = settings.only_with_server_delay;
        self.settings = Some(Arc::new(settings.clone()));
        self.spent(settings.total_timeout.is_some_and(|total| total.is_zero()))
    }

    /// gax-java's arithmetic takes zero for no timeout, so that no time left has to be said apart from it.
    pub(super) fn spent(mut self, is_spent: bool) -> Self {
        self.is_spent = is_spent;
        self.with_first()
    }

    /// The policy of operations that can't be run as they are asked for: each ends with
    /// [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions), and [`problem`](Self::problem) says why. Without a
    /// problem it is this policy.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::settings::SettingsProblem;
    /// use gax_retry::{Code, Policy, RetrySettings};
    ///
    /// let policy = Policy::new(&RetrySettings::default(), Code::Unavailable);
    /// let problem = SettingsProblem::new("wait_timeout", "0ms", "must be longer than zero");
    /// assert!(policy.unusable(vec![problem]).problem().is_some());
    /// ```
    pub fn unusable(mut self, problems: Vec<SettingsProblem>) -> Self {
        if !problems.is_empty() {
            let known = self.problem.iter().flat_map(|error| error.problems().iter().cloned());
            self.problem = Some(Arc::new(SettingsError::new(known.chain(problems).collect())));
        }
        self.barred()
    }

    fn with_first(self) -> Self {
        let (first, after_first) = first(&self.rules);
        Self { first, after_first, ..self }.barred()
    }

    /// No attempt is made where something keeps every one from being made.
    fn barred(mut self) -> Self {
        if let Some(refusal) = self.bar() {
            self.first = Err(refusal);
        }
        self
    }

    fn bar(&self) -> Option<Refusal> {
        match self.problem {
            Some(_) => Some(Refusal::invalid()),
            None => self.is_spent.then(Refusal::spent),
        }
    }

    pub(super) fn with_codes(self, codes: Result<CodeSet, ParseCodeError>) -> Self {
        match codes {
            Ok(codes) => Self { codes, ..self },
            Err(error) => self.unusable(vec![SettingsProblem::of_code(&error)]),
        }
    }

    /// The number of attempts that is never passed although the settings would allow more: five, by
    /// gRPC's rules (a channel's limit in gRFC A6).
    #[must_use]
    pub fn attempts_cap(&self) -> Option<u32> {
        match (&self.rules, self.hedging) {
            (Rules::Grpc(_), Some(hedging)) => Grpc::cap(Some(hedging.max_attempts())),
            (Rules::Grpc(rules), None) => rules.attempts_cap(),
            _ => None,
        }
    }

    gax_text::getters! { self:
        /// The first attempt of an operation that nothing else bounds or delays; `None`: there is no time for it.
        pub first_attempt: Option<StartedAttempt> = self.first.ok();

        /// The point of an attempt at which the operation is committed to it.
        pub commit_point: CommitPoint = self.commits_at;

        /// The codes that are retried.
        pub retryable_codes: CodeSet = self.codes;

        /// The version of the settings that it was made of; `None`: they are never replaced.
        pub version: Option<u64> = self.version.map(NonZeroU64::get);

        /// Why no operation makes an attempt: what the settings of a call or the codes ask for can't be done. Each ends with
        /// [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions).
        pub problem: Option<&SettingsError> = self.problem.as_deref();

        /// The budget that retries and hedges draw on.
        pub budget: Option<&RetryBudget> = self.budget.as_ref();
    }

    /// Returns whether an attempt that ended so may be followed by another one, as far as its code and its request go:
    /// limits, time and the budget are asked later.
    #[must_use]
    pub fn permits(&self, result: AttemptResult) -> bool {
        // The server's delay may still come, in the body.
        self.retryable(result.code(), result.retry, true).is_ok() && result.is_repeatable()
    }

    /// Returns whether attempts wait for the end of a connection's back-off, which takes neither a number nor their RPC timeouts: if one
    /// that ends `unconnected` may be followed by another one. By gRPC's rules each is counted instead.
    #[doc(hidden)]
    #[must_use]
    pub fn outwaits_backoff(&self, unconnected: AttemptResult) -> bool {
        !matches!(self.rules, Rules::Grpc(_)) && self.permits(unconnected.with_delivery(Delivery::NotSent))
    }

    /// The codes that are retried only if the server asks for a delay.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn only_with_server_delay(&self) -> CodeSet {
        self.only_with_server_delay
    }

    /// Returns whether an attempt that failed with that code may be followed by another one. `is_asked`: the server asks for a
    /// delay.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(super) fn retryable(&self, code: Code, retry: RetryFact, is_asked: bool) -> Result<(), StopReason> {
        let counts = is_asked || !self.only_with_server_delay.contains(code);
        match retry {
            RetryFact::ByCode if counts && self.recoverable_codes().contains(code) => Ok(()),
            RetryFact::ByCode => Err(StopReason::NonRetryable),
            RetryFact::Yes | RetryFact::ClosedByUs => Ok(()),
            RetryFact::No(reason) => Err(reason),
        }
    }

    /// The RPC timeout of an attempt that starts `now`, both in nanoseconds.
    pub(super) fn start(
        &self,
        progress: &mut Progress,
        is_first: bool,
        now: u64,
        bound: u64,
    ) -> Result<u64, Refusal> {
        if let Some(refusal) = self.bar() {
            return Err(refusal);
        }
        self.rules.start(progress, is_first, now, bound)
    }

    /// The time limit of an operation whose caller has this bound; `None`: no limit is set.
    #[must_use]
    pub fn time_limit(&self, bound: Option<Duration>) -> Option<Duration> {
        bounded(self.rules.time_limit().min(nanos_or_forever(bound)))
    }

    /// Returns whether an operation has ended with that attempt, if our clock ends it. `bound` is the caller's deadline.
    pub(super) fn ends_with(&self, attempt: StartedAttempt, bound: u64) -> bool {
        attempt.lasts_until(self.rules.clock_limit().min(bound))
    }

    /// Returns whether its number of attempts allows another one after so many, if there is time for it.
    #[cfg(feature = "plan")]
    pub(crate) fn has_attempts_after(&self, count: usize) -> bool {
        let counted = u32::try_from(count).unwrap_or(u32::MAX);
        if self.hedging.is_some() {
            return counted < self.most_hedged();
        }
        let (longest, is_endless) = (self.max_server_delay, self.is_endless);
        let ask = crate::rules::Ask {
            counted,
            now: 0,
            bound: FOREVER,
            server_delay: ServerDelay::None,
            longest,
            is_endless,
        };
        self.rules.next(&mut self.rules.begin(), ask, &mut crate::jitter::ScriptedJitter::new([])).is_ok()
    }

    /// The part of the server's wishes that counts by this policy's rules.
    pub(crate) fn heeded(&self, asked: ServerDelay) -> ServerDelay {
        match (self.heeds, asked) {
            // No delay at all is nothing to heed.
            (Heeds::All, ServerDelay::AtLeast(Duration::ZERO)) => ServerDelay::None,
            (Heeds::All, asked) => asked,
            (Heeds::Pushback, ServerDelay::Exactly(_) | ServerDelay::Never) => asked,
            (Heeds::Pushback | Heeds::Nothing, _) => ServerDelay::None,
        }
    }

    /// An attempt has a reply: the budget fills.
    #[inline]
    pub(super) fn succeeded(&self, world: &mut impl World) {
        if let Some(budget) = &self.budget {
            fill(budget, world);
        }
    }

    /// Returns whether the budget has room for another attempt besides the first.
    pub(super) fn allows(&self, world: &mut impl World) -> bool {
        self.budget.as_ref().is_none_or(|budget| budget.allows(|| world.uptime()))
    }

    /// Another attempt is going to be made, unless the budget has no room for it.
    pub(super) fn takes_retry(&self, world: &mut impl World) -> bool {
        self.budget.as_ref().is_none_or(|budget| budget.retried(|| world.uptime()))
    }
}

/// Out of the way of operations without a budget (bench `speed`, instructions).
#[inline(never)]
fn fill(budget: &RetryBudget, world: &mut impl World) {
    budget.succeeded(|| world.uptime());
}

fn first(rules: &Rules) -> (Result<StartedAttempt, Refusal>, Progress) {
    let mut progress = rules.begin();
    let rpc_timeout = rules.start(&mut progress, true, 0, FOREVER);
    let first = rpc_timeout.map(|timeout| StartedAttempt::first(timeout, rules.has_whole_milliseconds()));
    (first, progress)
}
