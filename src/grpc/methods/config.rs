//! The settings of a method, made ready to run calls by.

use crate::grpc::methods::shared_state::SharedState;
use crate::grpc::take_over::StreamTimeouts;
use crate::grpc::template::{AttemptHeaders, ExampleRequest};
use crate::headers::MethodHeaders;
use gax_driver::__private::{earlier, is_nested_retry};
use gax_driver::{CallOptions, Note};
use gax_retry::operation::Repetition;
use gax_retry::{MethodKind, MethodSettings, Policy, StartedAttempt};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Settings, limits and observers that all calls of a method share. Made once; a call with its own settings makes one more.
#[derive(Debug, Clone)]
pub struct MethodConfig {
    pub policy: Policy,
    /// Made with the time of a first attempt that nothing but the policy bounds.
    pub headers: AttemptHeaders,
    /// The time that a call has for all its attempts, or that operators allow it.
    pub timeout: Option<Duration>,
    /// The most bytes of a response that are buffered until the status is known.
    pub max_response_buffer: usize,
    /// Noted of a response that is longer than the buffer.
    pub too_large: Note,
    pub stream: StreamTimeouts,
    /// `Some(true)` if its calls wait for a connection; `None`: nothing is said.
    pub wait_for_ready: Option<bool>,
    pub shared: Arc<SharedState>,
    /// The example that requests are compared with, where the config is for those of one method.
    pub example: Option<OnceLock<ExampleRequest>>,
    /// `true` if its calls change nothing.
    is_read_only: bool,
    /// The kind of the RPCs that it is for: which of their timeouts apply.
    kind: MethodKind,
}

impl AsRef<Policy> for MethodConfig {
    #[inline]
    fn as_ref(&self) -> &Policy {
        &self.policy
    }
}

impl MethodConfig {
    /// The config for RPCs of that kind.
    pub fn new(settings: &MethodSettings, kind: MethodKind, shared: Arc<SharedState>) -> Self {
        let SharedState { options, compatibility, replay, table_budget, version, .. } = &*shared;
        let policy = settings
            .to_policy(*compatibility)
            .with_budget(table_budget.clone())
            .with_version(version.unwrap_or_default())
            .with_environment(&options.caps());
        let policy = options.applied_to(policy);
        let counts_attempts = replay.counts_attempts(*compatibility);
        let config = Self {
            policy: policy.clone(),
            headers: AttemptHeaders::new(first_time(&policy), counts_attempts, None),
            timeout: policy.environment().total_timeout(),
            max_response_buffer: replay.max_response_buffer,
            too_large: Note::RESPONSE_TOO_LARGE_TO_BUFFER,
            stream: StreamTimeouts { wait: settings.wait_timeout(), idle: settings.idle_timeout() },
            wait_for_ready: settings.waits_for_ready(),
            shared,
            example: None,
            is_read_only: false,
            kind,
        };
        config.with_policy(policy, kind).with_headers()
    }

    /// Buffers at most that many bytes of a response, and notes that of a longer one.
    pub fn buffering(self, max_response_buffer: usize, too_large: Note) -> Self {
        Self { max_response_buffer, too_large, ..self }
    }

    /// For a method with headers in addition to those of gRPC.
    pub fn with_own_headers(self, own: MethodHeaders) -> Self {
        Self { headers: self.headers.of_method(own), ..self }
    }

    /// For methods that change nothing, or for others.
    pub fn reading(self, is_read_only: bool) -> Self {
        Self { is_read_only, ..self }
    }

    /// Returns whether a failure can come of an earlier attempt of the call that was carried out.
    pub fn repetition(&self) -> Repetition {
        if self.is_read_only { Repetition::No } else { Repetition::ByCode }
    }

    /// The config for the method whose requests are like that one.
    pub fn like(self, example: ExampleRequest) -> Self {
        Self { example: Some(OnceLock::from(example)), ..self }
    }

    /// The request that others to the method are like, once there was one.
    #[inline]
    pub fn example(&self) -> Option<&ExampleRequest> {
        self.example.as_ref()?.get()
    }

    /// For a stream that outlives its connections, and if it is endless any total timeout.
    pub fn of_long_stream(&self, is_endless: bool, timeout: Option<Duration>) -> Arc<Self> {
        let mut config = Self { timeout, ..self.clone() };
        if is_endless {
            config.policy = config.policy.without_total_timeout();
            config = config.with_headers();
        }
        Arc::new(config)
    }

    /// Applies the timeouts of RPCs of that kind.
    pub fn for_kind(&self, kind: MethodKind) -> Self {
        self.clone().with_policy(self.policy.clone(), kind).with_headers()
    }

    fn with_policy(self, policy: Policy, kind: MethodKind) -> Self {
        // A replayed stream is retried by its settings, which gax-java has no word for.
        let policy = if kind.streams_requests() && self.shared.replay_memory.is_some() {
            policy.without_rpc_timeouts()
        } else {
            policy.for_kind(kind)
        };
        let policy =
            if self.shared.options.retries_are_enabled() { policy } else { policy.without_retries() };
        Self { policy, kind, ..self }
    }

    /// Prepares headers that fit its policy. A call with a separate policy does without.
    fn with_headers(self) -> Self {
        Self { headers: self.headers.for_time(first_time(&self.policy)), ..self }
    }

    /// The config of a call with its own options, or one that may not be retried where it is made; `None`: this one.
    #[inline]
    pub fn of_call(&self, options: Option<&CallOptions>) -> Option<Arc<Self>> {
        let options = options.filter(|options| options.changes_settings());
        let is_nested = is_nested_retry(&self.policy);
        (options.is_some() || is_nested).then(|| self.changed(options, is_nested))
    }

    #[cold]
    fn changed(&self, options: Option<&CallOptions>, is_nested: bool) -> Arc<Self> {
        let mut policy = self.policy.clone();
        if let Some(options) = options {
            policy = options.applied_to(policy);
        }
        if is_nested {
            policy = policy.inside_retry();
        }
        let deadline = options.and_then(CallOptions::deadline);
        let timeout = earlier(deadline, policy.environment().total_timeout());
        let mut config = Self { timeout, ..self.clone() };
        if options.is_some_and(|options| options.is_attempt) {
            config.shared = Arc::new(self.shared.without_observers());
            config.stream = StreamTimeouts::default();
            policy =
                policy.without_total_timeout().without_rpc_timeouts().with_budget(None).without_retries();
        }
        Arc::new(config.with_policy(policy, self.kind))
    }
}

/// For methods that are found by their paths.
impl MethodConfig {
    /// The config for one method alone, whose requests are like its first.
    pub fn of_one_method(&self) -> Self {
        Self { example: Some(OnceLock::new()), ..self.clone() }
    }

    /// The config for the method whose requests are like those of that one.
    pub fn like_those_of(self, other: &Self) -> Self {
        Self { example: other.example.clone(), ..self }
    }

    /// Returns whether a percentile of its calls' latencies says when they are hedged.
    pub fn counts_latencies(&self) -> bool {
        self.policy.hedging().is_some_and(|hedging| hedging.percentile_of_latencies().is_some())
    }

    /// For one method among others, with the latencies of its calls; `None`: they make no difference.
    pub fn with_own_latencies(&self) -> Option<Self> {
        let policy = self.policy.with_own_latencies()?;
        Some(self.clone().with_policy(policy, self.kind).with_headers())
    }

    /// Continues from the latencies of that config's calls, if it waits for the same percentile of them.
    pub fn with_latencies_of(self, other: &Self) -> Self {
        Self { policy: self.policy.with_latencies_of(&other.policy), ..self }
    }
}

/// The time of a first attempt that nothing but the policy bounds.
fn first_time(policy: &Policy) -> Option<Duration> {
    policy.first_attempt().and_then(StartedAttempt::deadline)
}
