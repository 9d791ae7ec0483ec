//! Tables written for others to read.

use super::read;
use crate::{ConversionTarget, Dialect, RetryTable, TableFormat};

pub(super) const TABLE: &str = r#"{"methodConfig": [
  {"name": [{"service": "a.B", "method": "Get"}], "timeout": "60s", "retryPolicy": {
    "maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "10s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE", "ABORTED"]}},
  {"name": [{"service": "a.B", "method": "List"}], "timeout": "5s", "retryPolicy": {
    "initialBackoff": "1s", "maxBackoff": "10s", "backoffMultiplier": 1.3,
    "retryableStatusCodes": ["DEADLINE_EXCEEDED", "UNAVAILABLE"]}},
  {"name": [{"service": "a.B"}], "timeout": "0.0001s"},
  {"name": [{}], "waitForReady": true}
], "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#;

fn converted(target: ConversionTarget) -> (String, Vec<String>) {
    let conversion = read(Dialect::AsWritten, TABLE).convert(target);
    let messages = conversion.findings().iter().map(|finding| finding.message().to_owned());
    (conversion.text().to_owned(), messages.collect())
}

pub(super) const ENVOY: &str = r#"name: retry_table
virtual_hosts:
- name: backend
  domains: ["*"]
  routes:
  - match:
      path: /a.B/Get
      grpc: {}
    route:
      cluster: backend
      timeout: "0s"
      max_stream_duration:
        max_stream_duration: "60s"
      retry_policy:
        retry_on: "unavailable,connect-failure,refused-stream,retriable-headers"
        num_retries: 3
        retry_back_off:
          base_interval: "0.1s"
          max_interval: "10s"
        retriable_headers:
        - name: grpc-status
          string_match:
            exact: "10"
  - match:
      path: /a.B/List
      grpc: {}
    route:
      cluster: backend
      timeout: "0s"
      max_stream_duration:
        max_stream_duration: "5s"
      retry_policy:
        retry_on: "deadline-exceeded,unavailable,connect-failure,refused-stream"
        num_retries: 3
        retry_back_off:
          base_interval: "1s"
          max_interval: "10s"
  - match:
      prefix: /a.B/
      grpc: {}
    route:
      cluster: backend
      timeout: "0s"
      max_stream_duration:
        max_stream_duration: "0.001s"
  - match:
      prefix: /
      grpc: {}
    route:
      cluster: backend
      timeout: "0s"
  - match:
      prefix: /
    route:
      cluster: backend
      timeout: "0s"
# The cluster of these routes. By default its circuit breaker lets 3 retries through at once, and calls beyond that are not
# retried; this allows as many as requests.
# - name: backend
#   circuit_breakers:
#     thresholds:
#     - max_requests: 1024
#       max_retries: 1024
"#;

#[test]
fn envoy_gets_routes() {
    let (text, messages) = converted(ConversionTarget::Envoy);
    assert_eq!(text, ENVOY);
    assert_eq!(
        messages,
        [
            "retry throttling of every call can't be expressed in Envoy",
            "a connection that breaks after the request was sent is not retried for every call in Envoy",
            "a server's pushback is ignored for every call in Envoy",
            "a number of retries must be given (3) for a.B/List in Envoy",
            "retry_delay_multiplier 1.3 of a.B/List can't be expressed in Envoy",
            "a timeout of 1 ms is written for a.B in Envoy",
            "wait_for_ready of everything can't be expressed in Envoy",
            "by default no more than 3 retries are in flight at once for every call in Envoy",
        ]
    );
}

#[test]
fn istio_gets_routes_and_is_configured_where_not_to_retry() {
    let (text, messages) = converted(ConversionTarget::Istio);
    assert_eq!(
        text,
        r#"apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: retry-table
spec:
  hosts: [backend]
  http:
  - match:
    - uri:
        exact: /a.B/Get
    route:
    - destination:
        host: backend
    timeout: "60s"
    retries:
      attempts: 3
      retryOn: "unavailable,connect-failure,refused-stream"
  - match:
    - uri:
        exact: /a.B/List
    route:
    - destination:
        host: backend
    timeout: "5s"
    retries:
      attempts: 3
      retryOn: "deadline-exceeded,unavailable,connect-failure,refused-stream"
  - match:
    - uri:
        prefix: /a.B/
    route:
    - destination:
        host: backend
    timeout: "1ms"
    retries:
      attempts: 0
  - match:
    - uri:
        prefix: /
    route:
    - destination:
        host: backend
    retries:
      attempts: 0
"#
    );
    assert_eq!(
        messages,
        [
            "retry throttling of every call can't be expressed in Istio",
            "a connection that breaks after the request was sent is not retried for every call in Istio",
            "a server's pushback is ignored for every call in Istio",
            "a timeout is reported as UNAVAILABLE for every call in Istio",
            "a retry on ABORTED of a.B/Get can't be expressed in Istio",
            "the back-off of a.B/Get can't be expressed in Istio",
            "a number of retries must be given (3) for a.B/List in Istio",
            "the back-off of a.B/List can't be expressed in Istio",
            "a timeout of 1ms is written for a.B in Istio",
            "wait_for_ready of everything can't be expressed in Istio",
        ]
    );
}

#[cfg(feature = "toml")]
#[test]
fn attempts_with_a_timeout_of_their_own_and_hedges_are_tries() {
    let table = read(
        Dialect::AsWritten,
        r#"
[[entry]]
for = ["a.B/Get"]
total_timeout = "60s"
initial_rpc_timeout = "2s"
rpc_timeout_multiplier = 2
max_rpc_timeout = "8s"
codes = ["DEADLINE_EXCEEDED"]
max_attempts = 3

[[entry]]
for = ["a.B/Hedged"]
timeout = "10s"
hedging = { max_attempts = 3, delay = "500ms", non_fatal_codes = ["UNAVAILABLE"] }
"#,
    );
    let conversion = table.convert(ConversionTarget::Envoy);
    for part in [
        "retry_on: \"deadline-exceeded,refused-stream,reset\"\n        num_retries: 2\n        per_try_timeout: \"2s\"\n",
        "retry_on: \"unavailable,connect-failure,reset\"\n        num_retries: 2\n        per_try_timeout: \"0.5s\"\n        retry_back_off:\n          base_interval: \"0.001s\"\n      hedge_policy:\n        hedge_on_per_try_timeout: true\n",
    ] {
        assert!(conversion.text().contains(part), "{}", conversion.text());
    }
    let rules: Vec<_> = conversion.findings().iter().map(crate::Finding::rule).collect();
    let (lost, near) = ("not-expressible", "approximated");
    assert_eq!(rules, [near, lost, near, lost, near, near]);
    assert!(table.convert(ConversionTarget::Istio).text().contains("perTryTimeout: \"2s\"\n"));
}

#[cfg(feature = "toml")]
#[test]
fn codes_without_a_name_are_hedged_on_by_number() {
    let table = read(
        Dialect::AsWritten,
        r#"
[[entry]]
for = ["a.B/Hedged"]
hedging = { max_attempts = 2, delay = "1s", non_fatal_codes = ["ABORTED"] }
"#,
    );
    let text = table.convert(ConversionTarget::Envoy).text().to_owned();
    assert!(text.contains("retry_on: \"reset,retriable-headers\"\n"), "{text}");
    assert!(
        text.contains("- name: grpc-status\n          string_match:\n            exact: \"10\"\n"),
        "{text}"
    );
}

#[cfg(feature = "toml")]
#[test]
fn the_timeout_of_an_only_attempt_is_that_of_the_call() {
    let table = read(Dialect::AsWritten, "[[entry]]\nfor = [\"a.B\"]\ninitial_rpc_timeout = \"2s\"\n");
    for (target, timeout, findings) in [
        (ConversionTarget::Envoy, "max_stream_duration: \"2s\"\n", 0),
        (ConversionTarget::Istio, "timeout: \"2s\"\n", 1),
    ] {
        let conversion = table.convert(target);
        assert!(conversion.text().contains(timeout), "{}", conversion.text());
        assert_eq!(conversion.findings().len(), findings, "{:?}", conversion.findings());
    }
}

#[test]
fn istio_passes_on_what_the_table_has_nothing_for() {
    let table =
        read(Dialect::AsWritten, r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "5s"}]}"#);
    let conversion = table.convert(ConversionTarget::Istio);
    let last = "  - match:\n    - uri:\n        prefix: /\n    route:\n    - destination:\n        host: backend\n    \
                retries:\n      attempts: 0\n";
    assert!(conversion.text().ends_with(last), "{}", conversion.text());
}

/// Envoy's default lets three retries through at once: with it 77 of 80 parallel calls were not retried.
#[test]
fn a_cluster_that_lets_retries_through_is_printed_where_there_are_any() {
    let is_reported = |text: &str| {
        let conversion = read(Dialect::AsWritten, text).convert(ConversionTarget::Envoy);
        let has_it =
            conversion.findings().iter().any(|finding| finding.message().contains("no more than 3 retries"));
        assert_eq!(conversion.text().ends_with("#       max_retries: 1024\n"), has_it);
        has_it
    };
    assert!(is_reported(TABLE));
    assert!(!is_reported(r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "60s"}]}"#));
}

#[test]
fn what_is_lost_is_reported_with_its_place() {
    let table = RetryTable::reader().file_name("t.json").read(TABLE.as_bytes()).unwrap();
    let findings: Vec<_> =
        table.convert(ConversionTarget::Envoy).findings().iter().map(ToString::to_string).collect();
    assert_eq!(
        findings[4],
        "t.json:5:42: warning[not-expressible]: retry_delay_multiplier 1.3 of a.B/List can't be expressed in Envoy; \
         Envoy doubles its delays"
    );
    let findings = table.convert(TableFormat::ClientConfig).findings().to_owned();
    assert_eq!(findings[1].origin().map(ToString::to_string).as_deref(), Some("t.json:8:25"));
}

#[test]
fn grpc_draws_its_waits_in_another_way() {
    let text = super::one_policy(r#", "maxAttempts": 3"#);
    let is_reported = |dialect| {
        let conversion = read(dialect, &text).convert(ConversionTarget::Envoy);
        conversion
            .findings()
            .iter()
            .any(|finding| finding.message().starts_with("waits are drawn from zero up"))
    };
    assert!(is_reported(Dialect::Grpc));
    assert!(!is_reported(Dialect::AsWritten));
}

#[test]
fn keys_that_come_twice_are_written_once() {
    let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "x": 1, "x": 2}], "y": {"z": 1}, "y": {"z": 2, "z": 3}}"#;
    let toml = RetryTable::parse(text).unwrap().convert(TableFormat::Toml).text().to_owned();
    assert_eq!(toml, "[grpc]\ny = { z = 3 }\n\n[[entry]]\nfor = [\"a.B\"]\ngrpc = { x = 2 }\n");
}
