//! Tables as generated clients start from them: the form `stub-tables/1`, in which the tables of other
//! generators come too.

use crate::command::table::source::Api;
use crate::command::table::view::code_names;
use crate::render::{Ms, Ordered};
use gax_retry::{BatchingSettings, CodeSet, RetrySettings};
use gax_table::{RetryTable, StubRow, StubTable};
use serde::Serialize;

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
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    initial_retry_delay_ms: Ms,
    retry_delay_multiplier: f64,
    max_retry_delay_ms: Ms,
    initial_rpc_timeout_ms: Ms,
    rpc_timeout_multiplier: f64,
    max_rpc_timeout_ms: Ms,
    total_timeout_ms: Ms,
    max_attempts: u32,
    jittered: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Batching {
    element_count_threshold: u64,
    request_byte_threshold: u64,
    delay_threshold_ms: Ms,
    is_enabled: bool,
    flow_control: FlowControl,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FlowControl {
    max_outstanding_element_count: Option<u64>,
    max_outstanding_request_bytes: Option<u64>,
    limit_exceeded_behavior: String,
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
    let params = stub.param_definitions().iter().map(|(name, settings)| (name.clone(), settings.into()));
    Service {
        name: stub.service().to_owned(),
        stub_settings_class: package.map(|package| format!("{package}.stub.{}StubSettings", java_name(name))),
        retry_code_definitions: Ordered(codes.collect()),
        retry_param_definitions: Ordered(params.collect()),
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
            retry_settings: row.settings().map(Params::from),
            batching: row.batching().map(Batching::from),
        }
    }
}

impl From<&RetrySettings> for Params {
    fn from(settings: &RetrySettings) -> Self {
        Self {
            initial_retry_delay_ms: Ms(settings.initial_retry_delay().unwrap_or_default()),
            retry_delay_multiplier: settings.retry_delay_multiplier().unwrap_or(1.0),
            max_retry_delay_ms: Ms(settings.max_retry_delay().unwrap_or_default()),
            initial_rpc_timeout_ms: Ms(settings.initial_rpc_timeout().unwrap_or_default()),
            rpc_timeout_multiplier: settings.rpc_timeout_multiplier(),
            max_rpc_timeout_ms: Ms(settings.max_rpc_timeout().unwrap_or_default()),
            total_timeout_ms: Ms(settings.total_timeout().unwrap_or_default()),
            max_attempts: settings.max_attempts().unwrap_or_default(),
            jittered: settings.jittered(),
        }
    }
}

impl From<&BatchingSettings> for Batching {
    fn from(batching: &BatchingSettings) -> Self {
        Self {
            element_count_threshold: batching.element_count_threshold(),
            request_byte_threshold: batching.request_byte_threshold(),
            delay_threshold_ms: Ms(batching.delay_threshold()),
            is_enabled: true,
            flow_control: FlowControl {
                max_outstanding_element_count: batching.max_outstanding_elements(),
                max_outstanding_request_bytes: batching.max_outstanding_bytes(),
                limit_exceeded_behavior: batching.limit_exceeded().to_string(),
            },
        }
    }
}
