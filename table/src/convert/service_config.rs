//! A table as a gRPC service config.

use super::conversion::Conversion;
use super::gather::gather;
use super::losses::Losses;
use super::text::{json_text, member, number_text, string, value};
use crate::RetryTable;
use crate::document::{Kind, Located, Member, Node};
use crate::model::written::{HedgingPolicy, MethodConfig, RetryPolicy};
use crate::values::seconds_text;
use gax_retry::__private::unchecked;
use gax_retry::{Code, Compatibility, RetrySettings};
use std::time::Duration;

/// What is written for a delay of zero.
const LEAST_DELAY: Duration = Duration::from_millis(1);

/// The JSON text of a service config.
pub(super) fn write_service_config(table: &RetryTable) -> Conversion {
    let config = gather(table);
    let mut losses = Losses::new("a gRPC service config", table);
    let methods = config.methods.iter().map(|method| entry(method, &mut losses)).collect();
    for beside in &config.beside {
        polling_and_batching(beside, &mut losses);
    }
    losses.lose_suppressions();
    let mut members = vec![member("methodConfig", value(Kind::Array(methods)))];
    if let Some(throttling) = &config.throttling {
        let mut fields = Vec::new();
        add(&mut fields, "maxTokens", throttling.max_tokens.map(number));
        add(&mut fields, "tokenRatio", throttling.token_ratio.map(number));
        members.push(member("retryThrottling", value(Kind::Object(fields))));
    }
    members.extend(config.rest.iter().cloned());
    Conversion { text: json_text(&value(Kind::Object(members))), findings: losses.into_findings() }
}

fn entry(method: &MethodConfig, losses: &mut Losses<'_>) -> Node {
    let mut members = vec![member("name", value(Kind::Array(method.names.iter().map(name).collect())))];
    let own = &method.own;
    let timeout = own.total_timeout.or(method.timeout);
    add(&mut members, "timeout", timeout.map(seconds));
    add(&mut members, "waitForReady", method.wait_for_ready.map(|wait| value(Kind::Bool(wait.value))));
    let retry = method.retry.as_ref().map(|policy| with_delays(method, policy, losses));
    add(&mut members, "retryPolicy", retry.as_ref().map(retry_policy));
    add(&mut members, "hedgingPolicy", method.hedging.as_ref().map(hedging_policy));
    members.extend(method.rest.iter().cloned());
    let differs = |rpc: Option<Located<i128>>| {
        rpc.is_some_and(|rpc| timeout.is_none_or(|timeout| timeout.value != rpc.value))
    };
    if differs(own.initial_rpc_timeout) || differs(own.max_rpc_timeout) {
        losses.lose(method, "the timeout of single attempts", "an attempt may take all of the timeout");
    }
    if own.rpc_timeout_multiplier.is_some_and(|multiplier| multiplier.value > 1.0) {
        losses.lose(method, "rpc_timeout_multiplier", "an attempt may take all of the timeout");
    }
    if own.max_server_delay.is_some() {
        losses.lose(method, "max_server_delay", "its default counts: the longest delay, or a minute");
    }
    if own.jittered.is_some_and(|jittered| !jittered.value) {
        losses.lose(method, "jittered = false", "waits are drawn at random");
    }
    if own.definitions.is_some() {
        losses.lose(method, "the names of codes and params", "definitions are named by their place");
    }
    if !own.suppressions.is_empty() {
        losses.lose(method, "allow", "JSON has no place for it");
    }
    polling_and_batching(method, losses);
    value(Kind::Object(members))
}

fn polling_and_batching(method: &MethodConfig, losses: &mut Losses<'_>) {
    if method.own.polling.is_some() {
        losses.lose(method, "polling", "keep it in GAPIC YAML beside the file");
    }
    if method.own.batching.is_some() {
        losses.lose(method, "batching", "keep it in GAPIC YAML beside the file");
    }
}

fn name(name: &crate::model::written::Name) -> Node {
    let mut members = Vec::new();
    if !name.service.is_empty() {
        members.push(member("service", string(&name.service)));
    }
    if !name.method.is_empty() {
        members.push(member("method", string(&name.method)));
    }
    value(Kind::Object(members))
}

/// The policy with its delays written out: gRPC refuses a policy that leaves them open, and a delay of zero.
fn with_delays(method: &MethodConfig, policy: &RetryPolicy, losses: &mut Losses<'_>) -> RetryPolicy {
    let mut policy = policy.clone();
    if policy.codes.as_ref().is_none_or(|codes| codes.value.is_empty()) {
        return policy;
    }
    let time = |written: Option<Located<i128>>| written.map(|time| duration(time.value));
    let builder = RetrySettings::builder()
        .initial_retry_delay(time(policy.initial_backoff))
        .retry_delay_multiplier(policy.multiplier.map(|multiplier| multiplier.value))
        .max_retry_delay(time(policy.max_backoff));
    let delays = unchecked(builder).retry_delays(Compatibility::Documented);
    let here = |time: Duration| Located { value: nanos(time), span: method.span };
    if policy.initial_backoff.is_none() {
        let help = "gRPC has no delays of its own, and refuses a policy without them";
        losses.approximate_entry(method, "delays that nobody set are written out", help);
    }
    if delays.initial().is_zero() {
        let help = "gRPC refuses a delay of zero";
        losses.approximate_entry(method, "the first delay is 1 ms", help);
    }
    policy.initial_backoff = Some(here(delays.initial().max(LEAST_DELAY)));
    policy.multiplier = Some(Located { value: delays.multiplier(), span: method.span });
    policy.max_backoff = delays.max().map(|max| here(max.max(LEAST_DELAY)));
    policy
}

fn retry_policy(policy: &RetryPolicy) -> Node {
    let mut members = Vec::new();
    add(&mut members, "maxAttempts", policy.max_attempts.map(count));
    add(&mut members, "initialBackoff", policy.initial_backoff.map(seconds));
    add(&mut members, "maxBackoff", policy.max_backoff.map(seconds));
    add(&mut members, "backoffMultiplier", policy.multiplier.map(number));
    add(&mut members, "retryableStatusCodes", policy.codes.as_ref().map(codes));
    value(Kind::Object(members))
}

fn hedging_policy(policy: &HedgingPolicy) -> Node {
    let mut members = Vec::new();
    add(&mut members, "maxAttempts", policy.max_attempts.map(count));
    add(&mut members, "hedgingDelay", policy.delay.map(seconds));
    add(&mut members, "nonFatalStatusCodes", policy.non_fatal_codes.as_ref().map(codes));
    value(Kind::Object(members))
}

fn add(members: &mut Vec<Member>, key: &str, value: Option<Node>) {
    members.extend(value.map(|value| member(key, value)));
}

fn seconds(nanos: Located<i128>) -> Node {
    string(seconds_text(nanos.value))
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

fn duration(nanos: i128) -> Duration {
    u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
}

fn count(count: Located<u32>) -> Node {
    value(Kind::Number(count.value.to_string()))
}

fn number(number: Located<f64>) -> Node {
    value(Kind::Number(number_text(number.value)))
}

fn codes(codes: &Located<Vec<Located<Code>>>) -> Node {
    value(Kind::Array(codes.value.iter().map(|code| string(code.value.name())).collect()))
}
