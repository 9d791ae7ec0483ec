//! The settings of a method, made ready to run calls by.

use super::replay_memory::ReplayMemory;
use super::{AttemptHeaders, Usual};
use crate::operation::{JitterSeeds, Note, Observers, earlier, is_nested_retry};
use crate::settings::{BufferLimits, CallOptions, CallSettings};
#[cfg(feature = "tables")]
use gax_retry::Hedging;
use gax_retry::operation::Repetition;
use gax_retry::{Compatibility, MethodKind, Policy, RetryBudget, StartedAttempt};
use std::sync::Arc;
use std::time::Duration;

/// What all calls of a method share. Made once; a call that brings settings of its own makes one more.
#[derive(Debug, Clone)]
pub(crate) struct MethodPlan {
    pub(crate) policy: Policy,
    /// Made with the time of a first attempt that nothing but the policy bounds.
    pub(crate) headers: AttemptHeaders,
    /// The time that a call brings along for all its attempts.
    pub(crate) timeout: Option<Duration>,
    pub(crate) limits: BufferLimits,
    /// What is noted of a response that is longer than the buffer.
    pub(crate) too_large: Note,
    /// What streams of requests are buffered in; `None`: they are not.
    pub(crate) replay_memory: Option<ReplayMemory>,
    pub(crate) jitter: JitterSeeds,
    /// Who is told of the calls; `None`: nobody.
    pub(crate) observers: Option<Arc<Observers>>,
    /// What requests have in common, where the plan is for those of one method.
    pub(crate) usual: Option<Usual>,
    /// Whether its calls change nothing.
    is_read_only: bool,
    /// The kind of the RPCs that it is for: which of their timeouts apply.
    kind: MethodKind,
    /// The policy without what operators allow at most, where they bound anything: a call's options go over that.
    unbounded: Option<Arc<Policy>>,
}

impl AsRef<Policy> for MethodPlan {
    #[inline]
    fn as_ref(&self) -> &Policy {
        &self.policy
    }
}

impl MethodPlan {
    pub(crate) fn new(
        settings: &CallSettings,
        compatibility: Compatibility,
        limits: BufferLimits,
        jitter: &JitterSeeds,
        budget: Option<&RetryBudget>,
    ) -> Self {
        let policy =
            Policy::with_compatibility(settings.retry_settings(), settings.retryable_codes(), compatibility)
                .with_hedging(settings.hedging().copied())
                .with_budget(budget.cloned())
                .with_nested_retries(limits.nested_retries);
        let policy = match limits.server_delays {
            Some(heeded) => policy.with_server_delays(heeded),
            None => policy,
        };
        let counts_attempts =
            limits.previous_attempts_header.unwrap_or(compatibility != Compatibility::GaxJava);
        let plan = Self {
            policy: policy.clone(),
            headers: AttemptHeaders::new(first_time(&policy), counts_attempts),
            timeout: None,
            limits,
            too_large: Note::ResponseTooLargeToBuffer,
            replay_memory: None,
            jitter: jitter.clone(),
            observers: None,
            usual: None,
            is_read_only: false,
            kind: MethodKind::Unary,
            unbounded: None,
        };
        plan.with_policy(policy, MethodKind::Unary).with_headers()
    }

    /// The same, made of that version of settings that can be replaced.
    pub(crate) fn of_version(self, version: Option<u64>) -> Self {
        let version = version.unwrap_or_default();
        let unbounded = self.unbounded.map(|policy| Arc::new(Policy::clone(&policy).with_version(version)));
        Self { policy: self.policy.with_version(version), unbounded, ..self }
    }

    /// The same for a client that decodes messages itself: a longer one than it buffers could not be decoded anyway.
    pub(crate) fn decoding(self) -> Self {
        Self { too_large: Note::MessageAboveDecodingLimit, ..self }
    }

    /// The same, and these observers are told of the calls.
    pub(crate) fn observed_by(self, observers: Option<Arc<Observers>>) -> Self {
        Self { observers, ..self }
    }

    /// The same, and streams of requests are buffered there to be replayed; `None`: they are not.
    pub(crate) fn replaying(self, replay_memory: Option<ReplayMemory>) -> Self {
        Self { replay_memory, ..self }
    }

    /// The same for methods that change nothing, or may.
    pub(crate) fn reading(self, is_read_only: bool) -> Self {
        Self { is_read_only, ..self }
    }

    /// Whether a failure can come of an earlier attempt of the call that was carried out.
    pub(crate) fn repetition(&self) -> Repetition {
        if self.is_read_only { Repetition::No } else { Repetition::ByCode }
    }

    /// The same for one method alone, which knows what its requests have in common.
    pub(crate) fn of_one_method(&self) -> Self {
        Self { usual: Some(Usual::default()), ..self.clone() }
    }

    /// The same for RPCs of that kind.
    pub(crate) fn for_kind(&self, kind: MethodKind) -> Self {
        self.clone().with_policy(self.unbounded().clone(), kind).with_headers()
    }

    /// Whether a percentile of its calls' latencies says when they are hedged.
    #[cfg(feature = "tables")]
    pub(crate) fn counts_latencies(&self) -> bool {
        self.unbounded().hedging().is_some_and(|hedging| hedging.percentile_of_latencies().is_some())
    }

    /// Whether its hedging is for methods that are not idempotent too.
    #[cfg(feature = "tables")]
    pub(crate) fn hedges_non_idempotent(&self) -> bool {
        self.unbounded().hedging().is_some_and(Hedging::allows_non_idempotent)
    }

    /// The same for one method among others, where that makes a difference: with the latencies of its own calls.
    #[cfg(feature = "tables")]
    pub(crate) fn with_own_latencies(&self) -> Option<Self> {
        let policy = self.unbounded().clone();
        let usable = policy.hedging().copied().filter(|hedging| hedging.problems().is_empty());
        let hedging = usable.filter(|_| self.counts_latencies())?;
        Some(self.clone().with_policy(policy.with_hedging(hedging), self.kind).with_headers())
    }

    /// The same, which goes on from the latencies of that plan's calls, if it waits for the same percentile of them.
    #[cfg(feature = "live")]
    pub(crate) fn with_latencies_of(self, other: &Self) -> Self {
        let joined = |policy: Policy| policy.with_latencies_of(&other.policy);
        let unbounded = self.unbounded.map(|policy| Arc::new(joined(Policy::clone(&policy))));
        Self { policy: joined(self.policy), unbounded, ..self }
    }

    fn unbounded(&self) -> &Policy {
        self.unbounded.as_deref().unwrap_or(&self.policy)
    }

    fn with_policy(self, policy: Policy, kind: MethodKind) -> Self {
        // What is replayed is retried by its settings, which gax-java has no word for.
        let policy = if kind.streams_requests() && self.replay_memory.is_some() {
            policy.without_rpc_timeouts()
        } else {
            policy.for_kind(kind)
        };
        let policy = if self.limits.retries_enabled { policy } else { policy.without_retries() };
        let environment = self.limits.environment;
        let (policy, unbounded) = if environment.is_empty() {
            (policy, None)
        } else {
            (policy.clone().with_environment(&environment), Some(Arc::new(policy)))
        };
        let timeout = earlier(self.timeout, environment.total_timeout());
        Self { policy, timeout, kind, unbounded, ..self }
    }

    /// The same, with headers that fit its policy. A call with a policy of its own does without.
    fn with_headers(self) -> Self {
        Self { headers: self.headers.for_time(first_time(&self.policy)), ..self }
    }

    /// The plan of a call with options of its own, or one that may not be retried where it is made; `None`: this one.
    #[inline]
    pub(crate) fn of_call(&self, options: Option<&CallOptions>) -> Option<Arc<Self>> {
        let options = options.filter(|options| options.changes_settings());
        let is_nested = is_nested_retry(&self.policy);
        (options.is_some() || is_nested).then(|| self.changed(options, is_nested))
    }

    #[cold]
    fn changed(&self, options: Option<&CallOptions>, is_nested: bool) -> Arc<Self> {
        let mut policy = self.unbounded().clone();
        if let Some(options) = options {
            policy = options.applied_to(policy);
        }
        if is_nested {
            policy = policy.inside_retry();
        }
        let plan = Self { timeout: options.and_then(CallOptions::deadline), ..self.clone() };
        Arc::new(plan.with_policy(policy, self.kind))
    }
}

/// The time of a first attempt that nothing but the policy bounds.
fn first_time(policy: &Policy) -> Option<Duration> {
    policy.first_attempt().and_then(StartedAttempt::deadline)
}
