//! Tables as generated clients start from them: the form `stub-tables/1`, in which the tables of other
//! generators come too.

use crate::command::table::source::Api;
use crate::command::table::view::{Members, code_names};
use crate::render::{Ms, Ordered};
use gax_retry::{BatchingSettings, CodeSet, RetrySettings};
use gax_table::{RetryTable, StubRow, StubTable};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(super) struct Document {
    schema: &'static str,
    api: String,
    services: Vec<Service>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Service {
    #[serde(rename = "service")]
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stub_settings_class: Option<String>,
    retry_code_definitions: Ordered<String, Vec<&'static str>>,
    retry_param_definitions: Ordered<String, Params>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    method: String,
    full_method: String,
    getter: String,
    kind: &'static str,
    codes_key: Option<String>,
    params_key: Option<String>,
    retryable_codes: Option<Vec<&'static str>>,
    retry_settings: Option<Params>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batching: Option<Batching>,
}

/// Settings in whole and, where a dialect has them, parts of milliseconds; 0 is none.
type Params = Members;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Batching {
    element_count_threshold: u64,
    request_byte_threshold: u64,
    delay_threshold_ms: Ms,
    is_enabled: bool,
    flow_control: Members,
}

pub(super) fn document(table: &RetryTable, api: &Api) -> Document {
    let stubs = table.stub_tables(&api.services);
    let package = stubs.first().and_then(|stub| stub.service().rsplit_once('.')).map(|(package, _)| package);
    Document {
        schema: "stub-tables/1",
        api: package.unwrap_or_default().to_owned(),
        services: stubs.iter().map(|stub| service(stub, api)).collect(),
    }
}

fn service(stub: &StubTable, api: &Api) -> Service {
    let name = stub.service().rsplit('.').next().unwrap_or_default();
    let package = api.java_packages.get(stub.service());
    let codes = stub.code_definitions().iter().map(|(name, codes)| (name.clone(), sorted(*codes)));
    let definitions =
        stub.param_definitions().iter().map(|(name, settings)| (name.clone(), params(settings)));
    Service {
        name: stub.service().to_owned(),
        stub_settings_class: package.map(|package| format!("{package}.stub.{}StubSettings", java_name(name))),
        retry_code_definitions: Ordered(codes.collect()),
        retry_param_definitions: Ordered(definitions.collect()),
        rows: stub.rows().iter().map(Row::from).collect(),
    }
}

/// A service's name in those of Java classes, which spell one otherwise than its proto.
fn java_name(service: &str) -> String {
    match service.strip_prefix("IAMCredentials") {
        Some(rest) => format!("IamCredentials{rest}"),
        None => service.to_owned(),
    }
}

/// The codes' names in the order of the alphabet.
fn sorted(codes: CodeSet) -> Vec<&'static str> {
    let mut names = code_names(codes);
    names.sort_unstable();
    names
}

impl From<&StubRow> for Row {
    fn from(row: &StubRow) -> Self {
        Self {
            method: row.method().to_owned(),
            full_method: row.full_method().to_owned(),
            getter: row.getter().to_owned(),
            kind: row.kind().as_str(),
            codes_key: row.codes_key().map(str::to_owned),
            params_key: row.params_key().map(str::to_owned),
            retryable_codes: row.codes_key().map(|_| sorted(row.codes())),
            retry_settings: row.settings().map(params),
            batching: row.batching().map(Batching::from),
        }
    }
}

fn params(settings: &RetrySettings) -> Params {
    let time = |time: Option<Duration>| json!(Ms(time.unwrap_or_default()));
    Ordered(vec![
        ("initialRetryDelayMs", time(settings.initial_retry_delay())),
        ("retryDelayMultiplier", json!(settings.retry_delay_multiplier().unwrap_or(1.0))),
        ("maxRetryDelayMs", time(settings.max_retry_delay())),
        ("initialRpcTimeoutMs", time(settings.initial_rpc_timeout())),
        ("rpcTimeoutMultiplier", json!(settings.rpc_timeout_multiplier())),
        ("maxRpcTimeoutMs", time(settings.max_rpc_timeout())),
        ("totalTimeoutMs", time(settings.total_timeout())),
        ("maxAttempts", json!(settings.max_attempts().unwrap_or_default())),
        ("jittered", json!(settings.jittered())),
    ])
}

impl From<&BatchingSettings> for Batching {
    fn from(batching: &BatchingSettings) -> Self {
        Self {
            element_count_threshold: batching.element_count_threshold(),
            request_byte_threshold: batching.request_byte_threshold(),
            delay_threshold_ms: Ms(batching.delay_threshold()),
            is_enabled: true,
            flow_control: Ordered(vec![
                ("maxOutstandingElementCount", json!(batching.max_outstanding_elements())),
                ("maxOutstandingRequestBytes", json!(batching.max_outstanding_bytes())),
                ("limitExceededBehavior", json!(batching.limit_exceeded().to_string())),
            ]),
        }
    }
}
