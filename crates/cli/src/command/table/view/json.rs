//! A method for programs.

use super::method_view::MethodView;
use crate::render::{Ms, Ordered};
use gax_retry::plan::Impact;
use gax_retry::{AttemptPlan, BatchingSettings, Code, CodeSet, NoJitter, RetrySettings};
use gax_table::{HedgingPolicy, MethodPolicy, PolicyField as Field};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Values by their names.
pub(crate) type Members = Ordered<&'static str, Value>;

/// The names of codes.
pub(crate) fn code_names(codes: CodeSet) -> Vec<&'static str> {
    codes.iter().map(Code::name).collect()
}

/// A time in milliseconds.
pub(crate) fn ms(time: Option<Duration>) -> Value {
    json!(time.map(Ms))
}

pub(crate) fn hedging_members(policy: &HedgingPolicy) -> Members {
    Ordered(vec![
        ("delay_ms", json!(Ms(policy.delay()))),
        // In place of the delay, or at least that: of the method's latencies.
        ("delay_percentile", json!(policy.percentile())),
        ("max_attempts", json!(policy.max_attempts())),
        ("non_fatal_codes", json!(code_names(policy.non_fatal_codes()))),
    ])
}

pub(crate) fn polling_members(settings: &RetrySettings) -> Members {
    Ordered(vec![
        ("initial_delay_ms", ms(settings.initial_retry_delay())),
        ("delay_multiplier", json!(settings.retry_delay_multiplier())),
        ("max_delay_ms", ms(settings.max_retry_delay())),
        ("total_timeout_ms", ms(settings.total_timeout())),
    ])
}

pub(crate) fn batching_members(settings: &BatchingSettings) -> Members {
    Ordered(vec![
        ("element_count_threshold", json!(settings.element_count_threshold())),
        ("request_byte_threshold", json!(settings.request_byte_threshold())),
        ("delay_threshold_ms", json!(Ms(settings.delay_threshold()))),
        ("max_outstanding_elements", json!(settings.max_outstanding_elements())),
        ("max_outstanding_bytes", json!(settings.max_outstanding_bytes())),
        ("limit_exceeded", json!(settings.limit_exceeded().to_string())),
    ])
}

impl MethodView<'_> {
    /// The settings by their names, with the field that each is from.
    pub(super) fn members(&self) -> [(&'static str, Field, Value); 12] {
        let policy = |value: fn(MethodPolicy<'_>) -> Value| self.policy.map(value).unwrap_or_default();
        let set = |value: fn(&RetrySettings) -> Value| self.settings().map(value).unwrap_or_default();
        let only = |codes: CodeSet| (!codes.is_empty()).then(|| code_names(codes));
        [
            ("codes", Field::RetryableCodes, policy(|policy| json!(code_names(policy.codes())))),
            ("total_timeout_ms", Field::TotalTimeout, set(|s| ms(s.total_timeout()))),
            ("initial_retry_delay_ms", Field::InitialRetryDelay, set(|s| ms(s.initial_retry_delay()))),
            (
                "retry_delay_multiplier",
                Field::RetryDelayMultiplier,
                set(|s| json!(s.retry_delay_multiplier())),
            ),
            ("max_retry_delay_ms", Field::MaxRetryDelay, set(|s| ms(s.max_retry_delay()))),
            ("max_attempts", Field::MaxAttempts, set(|s| json!(s.max_attempts()))),
            ("jittered", Field::Jittered, set(|s| json!(s.jittered()))),
            ("initial_rpc_timeout_ms", Field::InitialRpcTimeout, set(|s| ms(s.initial_rpc_timeout()))),
            (
                "rpc_timeout_multiplier",
                Field::RpcTimeoutMultiplier,
                set(|s| json!(s.rpc_timeout_multiplier())),
            ),
            ("max_rpc_timeout_ms", Field::MaxRpcTimeout, set(|s| ms(s.max_rpc_timeout()))),
            ("max_server_delay_ms", Field::MaxServerDelay, set(|s| ms(s.max_server_delay()))),
            (
                "only_with_server_delay",
                Field::OnlyWithServerDelay,
                json!(self.settings().map(RetrySettings::only_with_server_delay).and_then(only)),
            ),
        ]
    }

    /// How soon an outage is over for a call: at the latest, and when its attempts start if they are refused.
    fn outage(&self) -> [(&'static str, Value); 4] {
        let (worst_case, refused) = match (self.impact(), self.to_policy()) {
            (Some(impact), _) => (impact.worst_case(), Some(impact.refused().to_vec())),
            (None, Some(policy)) => {
                let plan = AttemptPlan::refused(&policy, &mut NoJitter);
                let starts = plan.attempts().iter().map(gax_retry::Attempt::start);
                (policy.worst_case(), Some(starts.collect()))
            }
            (None, None) => (None, None),
        };
        let refused = refused.map(|starts: Vec<Duration>| starts.into_iter().map(Ms).collect::<Vec<_>>());
        [
            ("worst_case_ms", ms(worst_case)),
            ("refused_at_ms", json!(refused)),
            ("load", json!(self.impact().map(Impact::load))),
            ("load_capped", json!(self.impact().map(Impact::is_load_capped))),
        ]
    }
}

impl Serialize for MethodView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let policy = self.policy.as_ref();
        let members = self.members();
        let own = [("hedging", Field::Hedging), ("idempotent", Field::Idempotent)];
        let fields = members.iter().map(|(name, field, _)| (*name, *field)).chain(own);
        let origins = || -> BTreeMap<&str, String> {
            fields.filter_map(|(name, field)| Some((name, self.origin_of(field)?.to_string()))).collect()
        };
        let mut row = serializer.serialize_map(None)?;
        row.serialize_entry("service", &Some(self.service).filter(|service| !service.is_empty()))?;
        row.serialize_entry("method", &Some(self.method).filter(|method| !method.is_empty()))?;
        row.serialize_entry("entry", &self.entry())?;
        row.serialize_entry("codes_key", &policy.map(MethodPolicy::codes_key))?;
        row.serialize_entry("params_key", &policy.map(MethodPolicy::params_key))?;
        for (name, _, value) in &members {
            row.serialize_entry(name, value)?;
        }
        row.serialize_entry("hedging", &self.hedging().map(hedging_members))?;
        row.serialize_entry("wait_for_ready", &policy.and_then(MethodPolicy::wait_for_ready))?;
        row.serialize_entry("wait_timeout_ms", &ms(policy.and_then(MethodPolicy::wait_timeout)))?;
        row.serialize_entry("idle_timeout_ms", &ms(policy.and_then(MethodPolicy::idle_timeout)))?;
        let requests = policy.and_then(MethodPolicy::max_request_message_bytes);
        row.serialize_entry("max_request_message_bytes", &requests)?;
        let responses = policy.and_then(MethodPolicy::max_response_message_bytes);
        row.serialize_entry("max_response_message_bytes", &responses)?;
        row.serialize_entry("polling", &self.polling().map(polling_members))?;
        row.serialize_entry("batching", &self.batching().map(batching_members))?;
        row.serialize_entry("idempotent", &self.idempotent())?;
        row.serialize_entry("origins", &policy.map(|_| origins()))?;
        for (name, value) in self.outage() {
            row.serialize_entry(name, &value)?;
        }
        row.end()
    }
}
