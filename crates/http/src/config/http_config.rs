//! The config of a request.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::config::by_rule::{ByRule, Rules};
use gax_driver::__private::earlier;
use gax_driver::CallOptions;
use gax_retry::HttpSettings;
use gax_retry::http::{
    Classification, HeaderLookup, HttpFailure, IdempotencyRule, IdempotencyStrategy, IdempotencyTable,
    Preset, RequestFacts, StatusSet, TransportFailure, TransportFailures,
};
use gax_retry::operation::{AttemptResult, RetryFact};
use gax_retry::{
    Code, CodeSet, Compatibility, Environment, Hedging, ParseCodeError, Policy, RetrySettings, StopReason,
};
use http::HeaderMap;
use http::header::HOST;
use http::request::Parts;
use std::sync::Arc;
use std::time::Duration;

/// The configuration that all calls of a layer share; a call with its own options has another one.
#[derive(Clone)]
pub struct HttpConfig {
    pub policy: Policy,
    /// The time that a call has for all its attempts.
    pub(crate) timeout: Option<Duration>,
    /// In place of the codes of responses.
    pub(super) statuses: Option<StatusSet>,
    /// In place of the codes of broken connections.
    transport: Option<TransportFailures>,
    pub(super) table: IdempotencyTable,
    pub strategy: IdempotencyStrategy,
    pub(crate) limits: HttpLimits,
    /// `true` if the report of a success is wanted even if one attempt was enough.
    pub(crate) reports: bool,
    /// The configs for requests that can be hedged.
    hedged: Option<ByRule<HttpConfig>>,
    /// The configs of the rules that have their own settings.
    pub(super) rules: Rules<HttpConfig>,
    /// By gax-java's rules, what its transport throws is `UNKNOWN` and final.
    throws_are_final: bool,
}

/// How much of a call is buffered, and how long its response may pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HttpLimits {
    pub(crate) max_replay_bytes: usize,
    pub(crate) max_response_buffer: usize,
    pub(crate) body_idle_timeout: Option<Duration>,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { max_replay_bytes: usize::MAX, max_response_buffer: 4 * 1024 * 1024, body_idle_timeout: None }
    }
}

impl HttpConfig {
    pub(crate) fn new(
        settings: &RetrySettings,
        codes: Result<CodeSet, ParseCodeError>,
        compatibility: Compatibility,
    ) -> Self {
        let config = Self::of_policy(Policy::with_compatibility(settings, codes, compatibility));
        if compatibility == Compatibility::GaxJava {
            // gax-java retries by code alone.
            return Self { strategy: IdempotencyStrategy::Always, throws_are_final: true, ..config };
        }
        config
    }

    fn of_policy(policy: Policy) -> Self {
        Self {
            policy,
            timeout: None,
            statuses: None,
            transport: None,
            table: IdempotencyTable::http_methods(),
            strategy: IdempotencyStrategy::default(),
            limits: HttpLimits::default(),
            reports: false,
            hedged: None,
            rules: Arc::default(),
            throws_are_final: false,
        }
    }

    pub(crate) fn of_preset(preset: &Preset) -> Self {
        Self {
            statuses: Some(preset.statuses()),
            transport: Some(preset.transport_failures()),
            table: preset.idempotency_table().clone(),
            strategy: preset.strategy(),
            ..Self::of_policy(preset.policy())
        }
    }

    /// The config of a request, where the rule that it matches has one of its own.
    pub(crate) fn of_rule<'a>(own: &'a Arc<Self>, parts: &Parts) -> &'a Arc<Self> {
        if own.rules.is_empty() {
            return own;
        }
        let rule = facts_of(parts, |facts| own.table.rule_of(facts).map(IdempotencyRule::name));
        rule.and_then(|rule| own.rules.get(rule)).unwrap_or(own)
    }

    /// Hedges requests that may run twice at once.
    pub(crate) fn set_hedging(&mut self, hedging: Hedging) {
        // Latencies are counted for a percentile alone.
        let is_measured = hedging.percentile_of_latencies().is_some();
        let rules = self.table.rules().iter().filter(|_| is_measured).map(IdempotencyRule::name);
        let config = || Self {
            policy: self.policy.clone().with_hedging(hedging),
            hedged: None,
            rules: Arc::default(),
            ..self.clone()
        };
        self.hedged = Some(ByRule::new(rules, config));
    }

    pub(crate) fn set_limits(&mut self, limits: HttpLimits) {
        if let Some(hedged) = &mut self.hedged {
            hedged.change(|config| config.limits = limits);
        }
        self.limits = limits;
    }

    /// The request belongs to one whose sender has retried already: neither retries nor hedges follow.
    pub(crate) fn set_inside_retry(&mut self) {
        self.policy = self.policy.clone().inside_retry();
        self.hedged = None;
    }

    /// The config for requests that are hedged; `None`: one like that isn't.
    pub(crate) fn hedged(&self, classification: &Classification) -> Option<Arc<Self>> {
        let hedged = self.hedged.as_ref()?;
        let hedging = hedged.any().policy.hedging()?;
        classification
            .is_hedged(self.strategy, hedging)
            .then(|| hedged.of(classification.rule(), Self::with_latencies_of))
    }

    fn with_latencies_of(self, other: &Self) -> Self {
        Self { policy: self.policy.with_latencies_of(&other.policy), ..self }
    }

    /// Takes in what one call has.
    pub(crate) fn apply(&mut self, options: &CallOptions) {
        if let Some(hedged) = &mut self.hedged {
            hedged.change(|config| config.apply(options));
        }
        self.policy = options.applied_to(self.policy.clone());
        if options.replaces_codes() {
            self.statuses = None;
            self.transport = None;
        }
        self.timeout = options.deadline();
        self.reports = options.report.unwrap_or(self.reports);
    }

    /// This config with no more time, attempts or retries than operators allow.
    pub(crate) fn bounded_by(mut self, environment: &Environment) -> Self {
        if !environment.is_empty() {
            self.policy = self.policy.with_environment(environment);
            self.timeout = earlier(self.timeout, environment.total_timeout());
            let hedged = self.hedged.map(|hedged| hedged.map(|config| config.bounded_by(environment)));
            self.hedged = hedged.filter(|hedged| hedged.any().policy.hedging().is_some());
        }
        self
    }

    /// The longest that nothing happens to a transfer in flight.
    #[must_use]
    pub fn idle_timeout_of_transfers(&self) -> Duration {
        self.limits.body_idle_timeout.unwrap_or(Duration::from_secs(60))
    }

    /// How the idempotency table classifies a request.
    pub fn classify(&self, parts: &Parts, body: &[u8]) -> Classification {
        facts_of(parts, |facts| self.table.classify(&facts.with_body(body)))
    }

    /// The facts of an attempt that failed so; `None`: by a fault of the request's own.
    pub(crate) fn failed(&self, failure: Option<HttpFailure>) -> AttemptResult {
        let (code, listed) = failure.map_or((Code::Unknown, Some(false)), |failure| self.classified(failure));
        let retry = match listed {
            None => RetryFact::ByCode,
            Some(true) => RetryFact::Yes,
            Some(false) => RetryFact::No(StopReason::NonRetryable),
        };
        AttemptResult::failed(code).with_retry(retry)
    }

    /// The code that a failure is treated as, and whether it is retried, where something other than the code
    /// says so.
    fn classified(&self, failure: HttpFailure) -> (Code, Option<bool>) {
        match failure {
            HttpFailure::Status(status) => {
                let code = Code::from_http_status(status);
                let listed = self.statuses.map(|statuses| statuses.contains(status));
                // A code that counts only with a delay of the server's is asked for as one.
                let needs_delay = self.policy.only_with_server_delay().contains(code)
                    && self.policy.recoverable_codes().contains(code);
                (code, listed.filter(|listed| !(*listed && needs_delay)))
            }
            HttpFailure::Transport(failure) => {
                let listed = self.transport.map(|transport| transport.contains(failure));
                match failure {
                    TransportFailure::Timeout => (Code::DeadlineExceeded, listed),
                    _ if self.throws_are_final => (Code::Unknown, Some(false)),
                    TransportFailure::Unreadable => (Code::Internal, Some(false)),
                    _ => (Code::Unavailable, listed),
                }
            }
        }
    }
}

impl HttpConfig {
    /// The config of requests that have these settings.
    pub(super) fn of_settings(settings: &HttpSettings, compatibility: Compatibility) -> Self {
        let of_method = settings.method_settings();
        let mut config = Self::new(of_method.retry_settings(), of_method.codes(), compatibility);
        config.statuses = Some(settings.own_statuses());
        config.transport = Some(settings.own_failures());
        if let Some(applied) = settings.applies_retry_after() {
            config.policy = config.policy.with_server_delays(applied);
        }
        config
    }

    /// Keeps the latencies of the previous config, rule by rule, where requests are hedged after the same percentile.
    pub(super) fn go_on_from(&mut self, before: &Self) {
        if let (Some(hedged), Some(before)) = (&mut self.hedged, &before.hedged) {
            *hedged = hedged.joined(before, Self::with_latencies_of);
        }
        for (rule, config) in Arc::make_mut(&mut self.rules) {
            if let Some(before) = before.rules.get(rule) {
                Arc::make_mut(config).go_on_from(before);
            }
        }
    }
}

impl AsRef<Policy> for HttpConfig {
    fn as_ref(&self) -> &Policy {
        &self.policy
    }
}

/// The parts of a request that rules look at, without its body.
fn facts_of<T>(parts: &Parts, look: impl FnOnce(&RequestFacts<'_>) -> T) -> T {
    let target = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let headers = Headers(&parts.headers);
    let facts = RequestFacts::new(parts.method.as_str(), target).with_headers(&headers);
    let authority = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = authority.or_else(|| parts.headers.get(HOST)?.to_str().ok());
    // Whoever is named before the host makes no difference.
    let host = host.map(|host| host.rsplit_once('@').map_or(host, |(_, host)| host));
    look(&host.into_iter().fold(facts, RequestFacts::with_host))
}

struct Headers<'a>(&'a HeaderMap);

impl HeaderLookup for Headers<'_> {
    fn value(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(http::HeaderValue::as_bytes)
    }
}
