//! Methods for programs.

use crate::command::table::methods::MethodRow;
use crate::render::Ms;
use gax_retry::{Dialect, MethodPolicy, PolicyField, RetrySettings};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    dialect: &'static str,
    methods: Vec<Row<'a>>,
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
    origins: Option<BTreeMap<&'static str, String>>,
    worst_case_ms: Option<Ms>,
    refused_at_ms: Option<Vec<Ms>>,
    load: Option<f64>,
}

pub(super) fn document<'a>(rows: &'a [MethodRow<'a>], dialect: Dialect) -> Document<'a> {
    Document { dialect: dialect.as_str(), methods: rows.iter().map(|row| line(row, dialect)).collect() }
}

fn line<'a>(row: &'a MethodRow<'a>, dialect: Dialect) -> Row<'a> {
    let policy = row.policy;
    let settings = policy.map(|policy| policy.settings());
    let outlook = row.outlook(dialect);
    let outlook = outlook.as_ref();
    Row {
        service: Some(row.service.as_str()).filter(|service| !service.is_empty()),
        method: Some(row.method.as_str()).filter(|method| !method.is_empty()),
        entry: policy.and_then(|policy| policy.entry()),
        codes_key: policy.map(|policy| policy.codes_key()),
        params_key: policy.map(|policy| policy.params_key()),
        codes: policy.map(|policy| policy.codes().iter().map(gax_retry::Code::name).collect()),
        total_timeout_ms: settings.and_then(|settings| settings.total_timeout().map(Ms)),
        initial_retry_delay_ms: settings.and_then(|settings| settings.initial_retry_delay().map(Ms)),
        retry_delay_multiplier: settings.and_then(RetrySettings::retry_delay_multiplier),
        max_retry_delay_ms: settings.and_then(|settings| settings.max_retry_delay().map(Ms)),
        max_attempts: settings.and_then(RetrySettings::max_attempts),
        jittered: settings.map(RetrySettings::jittered),
        initial_rpc_timeout_ms: settings.and_then(|settings| settings.initial_rpc_timeout().map(Ms)),
        rpc_timeout_multiplier: settings.map(RetrySettings::rpc_timeout_multiplier),
        max_rpc_timeout_ms: settings.and_then(|settings| settings.max_rpc_timeout().map(Ms)),
        origins: policy.map(origins),
        worst_case_ms: outlook.and_then(|outlook| outlook.worst_case().map(Ms)),
        refused_at_ms: outlook.map(|outlook| outlook.refused().iter().copied().map(Ms).collect()),
        load: outlook.map(gax_retry::Outlook::load),
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
    ];
    let places =
        fields.into_iter().filter_map(|(name, field)| Some((name, policy.origin_of(field)?.to_string())));
    places.collect()
}
