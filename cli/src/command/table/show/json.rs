//! Methods for programs.

use super::rules::Rules;
use crate::command::table::beside::Beside;
use crate::command::table::by_policy::ByPolicy;
use crate::command::table::hedged::Hedged;
use crate::command::table::methods::{MethodRow, code_names};
use crate::render::Ms;
use gax_retry::plan::Impact;
use gax_retry::{AttemptPlan, NoJitter, Policy, RetrySettings};
use gax_table::{MethodPolicy, PolicyField, RetryTable};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    dialect: &'static str,
    retry_throttling: Option<Throttling>,
    allow: Vec<Allowed<'a>>,
    /// Which HTTP requests are safe to retry.
    http: Option<Rules<'a>>,
    /// What a service config says beside retries, as it stands there.
    other_fields: serde_json::Value,
    methods: Rows<'a>,
}

/// The methods, each of which is made when it is written.
#[derive(Debug)]
struct Rows<'a> {
    methods: &'a [MethodRow<'a>],
    table: &'a RetryTable,
    with_load: bool,
}

#[derive(Debug, Serialize)]
struct Throttling {
    max_tokens: f64,
    token_ratio: f64,
}

/// A finding that the table's authors know of.
#[derive(Debug, Serialize)]
struct Allowed<'a> {
    rule: &'a str,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    service: Option<&'a str>,
    method: Option<&'a str>,
    entry: Option<usize>,
    codes_key: Option<&'a str>,
    params_key: Option<&'a str>,
    codes: Option<Vec<&'static str>>,
    total_timeout_ms: Option<Ms>,
    initial_retry_delay_ms: Option<Ms>,
    retry_delay_multiplier: Option<f64>,
    max_retry_delay_ms: Option<Ms>,
    max_attempts: Option<u32>,
    jittered: Option<bool>,
    initial_rpc_timeout_ms: Option<Ms>,
    rpc_timeout_multiplier: Option<f64>,
    max_rpc_timeout_ms: Option<Ms>,
    max_server_delay_ms: Option<Ms>,
    only_with_server_delay: Option<Vec<&'static str>>,
    hedging: Option<Hedged>,
    wait_for_ready: Option<bool>,
    max_request_message_bytes: Option<u64>,
    max_response_message_bytes: Option<u64>,
    #[serde(flatten)]
    beside: Beside,
    origins: Option<BTreeMap<&'static str, String>>,
    worst_case_ms: Option<Ms>,
    refused_at_ms: Option<Vec<Ms>>,
    load: Option<f64>,
    load_capped: Option<bool>,
}

impl<'a> Document<'a> {
    /// `with_load`: whether load is estimated, which takes its time.
    pub(super) fn new(rows: &'a [MethodRow<'a>], table: &'a RetryTable, with_load: bool) -> Self {
        let allowed = table.suppressions();
        Self {
            dialect: table.dialect().as_str(),
            retry_throttling: table.throttling().map(|throttling| Throttling {
                max_tokens: throttling.max_tokens(),
                token_ratio: throttling.token_ratio(),
            }),
            allow: allowed
                .map(|allowed| Allowed { rule: allowed.rule(), reason: allowed.reason() })
                .collect(),
            http: table.idempotency().map(Rules::from),
            other_fields: serde_json::from_str(&table.other_fields()).unwrap_or_default(),
            methods: Rows { methods: rows, table, with_load },
        }
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut outages = ByPolicy::new();
        let compatibility = self.table.dialect().compatibility();
        serializer.collect_seq(self.methods.iter().map(|row| {
            let policy = row.policy.filter(|policy| policy.entry().is_some());
            let outage = policy.map(|policy| {
                outages.get(policy, || outage_of(&policy.to_policy(compatibility), self.with_load))
            });
            row_of(*row, self.table, outage.as_deref())
        }))
    }
}

/// What a policy leads to in an outage.
struct Outage {
    worst_case: Option<Duration>,
    refused: Vec<Duration>,
    load: Option<f64>,
    load_capped: Option<bool>,
}

fn outage_of(policy: &Policy, with_load: bool) -> Outage {
    if with_load {
        let impact = Impact::of(policy);
        return Outage {
            worst_case: impact.worst_case(),
            refused: impact.refused().to_vec(),
            load: Some(impact.load()),
            load_capped: Some(impact.is_load_capped()),
        };
    }
    let refused = AttemptPlan::refused(policy, &mut NoJitter);
    let refused = refused.attempts().iter().map(gax_retry::Attempt::start).collect();
    Outage { worst_case: policy.worst_case(), refused, load: None, load_capped: None }
}

fn row_of<'a>(row: MethodRow<'a>, table: &RetryTable, outage: Option<&Outage>) -> Row<'a> {
    let policy = row.policy;
    let settings = policy.map(|policy| policy.settings());
    let beside = row.beside(table);
    Row {
        service: Some(row.service).filter(|service| !service.is_empty()),
        method: Some(row.method).filter(|method| !method.is_empty()),
        entry: policy.and_then(|policy| policy.entry()),
        codes_key: policy.map(|policy| policy.codes_key()),
        params_key: policy.map(|policy| policy.params_key()),
        codes: policy.map(|policy| code_names(policy.codes())),
        total_timeout_ms: settings.and_then(|settings| settings.total_timeout().map(Ms)),
        initial_retry_delay_ms: settings.and_then(|settings| settings.initial_retry_delay().map(Ms)),
        retry_delay_multiplier: settings.and_then(RetrySettings::retry_delay_multiplier),
        max_retry_delay_ms: settings.and_then(|settings| settings.max_retry_delay().map(Ms)),
        max_attempts: settings.and_then(RetrySettings::max_attempts),
        jittered: settings.map(RetrySettings::jittered),
        initial_rpc_timeout_ms: settings.and_then(|settings| settings.initial_rpc_timeout().map(Ms)),
        rpc_timeout_multiplier: settings.map(RetrySettings::rpc_timeout_multiplier),
        max_rpc_timeout_ms: settings.and_then(|settings| settings.max_rpc_timeout().map(Ms)),
        max_server_delay_ms: settings.and_then(|settings| settings.max_server_delay().map(Ms)),
        only_with_server_delay: settings
            .map(RetrySettings::only_with_server_delay)
            .filter(|codes| !codes.is_empty())
            .map(code_names),
        hedging: policy.and_then(|policy| policy.hedging()).map(Hedged::from),
        wait_for_ready: policy.and_then(|policy| policy.wait_for_ready()),
        max_request_message_bytes: policy.and_then(|policy| policy.max_request_message_bytes()),
        max_response_message_bytes: policy.and_then(|policy| policy.max_response_message_bytes()),
        beside,
        origins: policy.map(origins),
        worst_case_ms: outage.and_then(|outage| outage.worst_case.map(Ms)),
        refused_at_ms: outage.map(|outage| outage.refused.iter().copied().map(Ms).collect()),
        load: outage.and_then(|outage| outage.load),
        load_capped: outage.and_then(|outage| outage.load_capped),
    }
}

fn origins(policy: MethodPolicy<'_>) -> BTreeMap<&'static str, String> {
    let fields = [
        ("codes", PolicyField::RetryableCodes),
        ("total_timeout_ms", PolicyField::TotalTimeout),
        ("initial_retry_delay_ms", PolicyField::InitialRetryDelay),
        ("retry_delay_multiplier", PolicyField::RetryDelayMultiplier),
        ("max_retry_delay_ms", PolicyField::MaxRetryDelay),
        ("max_attempts", PolicyField::MaxAttempts),
        ("jittered", PolicyField::Jittered),
        ("initial_rpc_timeout_ms", PolicyField::InitialRpcTimeout),
        ("rpc_timeout_multiplier", PolicyField::RpcTimeoutMultiplier),
        ("max_rpc_timeout_ms", PolicyField::MaxRpcTimeout),
        ("max_server_delay_ms", PolicyField::MaxServerDelay),
        ("only_with_server_delay", PolicyField::OnlyWithServerDelay),
        ("hedging", PolicyField::Hedging),
        ("idempotent", PolicyField::Idempotent),
    ];
    let places =
        fields.into_iter().filter_map(|(name, field)| Some((name, policy.origin_of(field)?.to_string())));
    places.collect()
}
