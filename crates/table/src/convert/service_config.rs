//! A table as a gRPC service config.

use super::gather::gather;
use super::losses::Losses;
use super::text::{Field, Value, field, number_text, string, write_json};
use crate::document::Located;
use crate::model::EntryName;
use crate::model::written::{HedgingPolicy, MethodConfig, RetryPolicy};
use crate::values::{nanos, seconds_text};
use crate::{Finding, RetryTable};
use gax_retry::{Code, Compatibility, RetrySettings};
use std::fmt;
use std::time::Duration;

/// The text for a delay of zero.
const MIN_DELAY: Duration = Duration::from_millis(1);

/// Writes the JSON text of a service config.
pub(super) fn write_service_config(
    table: &RetryTable,
    out: &mut dyn fmt::Write,
) -> Result<Vec<Finding>, fmt::Error> {
    let config = gather(table);
    let mut losses = Losses::new("a gRPC service config", table);
    let methods = Value::elements(config.methods.iter().map(|method| entry(method, &mut losses)));
    let mut fields = vec![field("methodConfig", methods)];
    if let Some(throttling) = &config.throttling {
        let mut of_throttling = Vec::new();
        add(&mut of_throttling, "maxTokens", throttling.max_tokens.map(number));
        add(&mut of_throttling, "tokenRatio", throttling.token_ratio.map(number));
        fields.push(field("retryThrottling", Value::Object(of_throttling)));
    }
    fields.extend(config.rest.iter().map(Field::from));
    write_json(Value::Object(fields), out)?;
    for beside in &config.beside {
        lose_beside(beside, &mut losses);
    }
    losses.lose_suppressions();
    Ok(losses.into_findings())
}

fn entry<'m>(method: &'m MethodConfig, losses: &mut Losses<'_>) -> Value<'m> {
    let mut fields = vec![field("name", Value::elements(method.names.iter().map(name)))];
    let own = &method.own;
    let timeout = own.total_timeout.or(method.timeout);
    add(&mut fields, "timeout", timeout.map(seconds));
    add(&mut fields, "waitForReady", method.wait_for_ready.map(|wait| Value::Bool(wait.value)));
    let retry = method.retry.as_ref().map(|policy| with_delays(method, policy, losses));
    add(&mut fields, "retryPolicy", retry.as_ref().map(retry_policy));
    add(&mut fields, "hedgingPolicy", method.hedging.as_deref().map(hedging_policy));
    fields.extend(method.rest.iter().map(Field::from));
    let differs = |rpc: Option<Located<i128>>| {
        rpc.is_some_and(|rpc| timeout.is_none_or(|timeout| timeout.value != rpc.value))
    };
    let has_percentile = method.hedging.as_ref().is_some_and(|hedging| hedging.percentile.is_some());
    let has_own_timeout = differs(own.initial_rpc_timeout) || differs(own.max_rpc_timeout);
    let grows = own.rpc_timeout_multiplier.is_some_and(|multiplier| multiplier.value > 1.0);
    let limits_streams = own.wait_timeout.or(own.idle_timeout).is_some();
    let is_exact = own.jittered.is_some_and(|jittered| !jittered.value);
    let at_once = "the delay applies; without one all attempts are sent at once";
    let takes_all = "an attempt may take all of the timeout";
    let without_delay = "the codes are retried without a server delay too";
    let default = "its default applies: the longest delay, or a minute";
    let parts = [
        (has_percentile, "hedging.percentile", at_once),
        (has_own_timeout, "the timeout of single attempts", takes_all),
        (grows, "rpc_timeout_multiplier", takes_all),
        (own.only_with_server_delay.is_some(), "only_with_server_delay", without_delay),
        (own.max_server_delay.is_some(), "max_server_delay", default),
        (limits_streams, "wait and idle timeouts of streams", "set them in code"),
        (is_exact, "jittered = false", "waits are drawn at random"),
        (own.definitions.is_some(), "the names of codes and params", "definitions are named by their place"),
        (!own.suppressions.is_empty(), "allow", "JSON can't express it"),
    ];
    losses.lose_parts(&losses.entry(method), parts);
    lose_beside(method, losses);
    Value::Object(fields)
}

/// Notes that what is said besides retries is lost.
fn lose_beside(method: &MethodConfig, losses: &mut Losses<'_>) {
    let own = &method.own;
    let parts = [
        (own.idempotent.is_some(), "idempotent", "keep it in TOML next to the file"),
        (own.polling.is_some(), "polling", "keep it in GAPIC YAML next to the file"),
        (own.batching.is_some(), "batching", "keep it in GAPIC YAML next to the file"),
    ];
    losses.lose_parts(&losses.entry(method), parts);
}

fn name(name: &EntryName) -> Value<'_> {
    let parts = [("service", &name.service), ("method", &name.method)];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    Value::Object(parts.map(|(key, text)| field(key, string(&**text))).collect())
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
    let delays = builder.build_unchecked().retry_delays(Compatibility::Documented);
    let here = |time: Duration| Located { value: nanos(time), span: method.span };
    if policy.initial_backoff.is_none() || policy.multiplier.is_none() || policy.max_backoff.is_none() {
        let help = "gRPC has no default delays, and rejects a policy without them";
        losses.approximate(&losses.entry(method), "default delays are written out", help);
    }
    if delays.initial().is_zero() {
        let help = "gRPC rejects a delay of zero";
        losses.approximate(&losses.entry(method), "the first delay is 1 ms", help);
    }
    policy.initial_backoff = Some(here(delays.initial().max(MIN_DELAY)));
    policy.multiplier = Some(Located { value: delays.multiplier(), span: method.span });
    policy.max_backoff = delays.max().map(|max| here(max.max(MIN_DELAY)));
    policy
}

fn retry_policy<'v>(policy: &RetryPolicy) -> Value<'v> {
    let mut fields = Vec::new();
    add(&mut fields, "maxAttempts", policy.max_attempts.map(count));
    add(&mut fields, "initialBackoff", policy.initial_backoff.map(seconds));
    add(&mut fields, "maxBackoff", policy.max_backoff.map(seconds));
    add(&mut fields, "backoffMultiplier", policy.multiplier.map(number));
    add(&mut fields, "retryableStatusCodes", policy.codes.as_ref().map(codes));
    Value::Object(fields)
}

fn hedging_policy<'v>(policy: &HedgingPolicy) -> Value<'v> {
    let mut fields = Vec::new();
    add(&mut fields, "maxAttempts", policy.max_attempts.map(count));
    add(&mut fields, "hedgingDelay", policy.delay.map(seconds));
    add(&mut fields, "nonFatalStatusCodes", policy.non_fatal_codes.as_ref().map(codes));
    Value::Object(fields)
}

fn add<'a>(fields: &mut Vec<Field<'a>>, key: &'static str, value: Option<Value<'a>>) {
    fields.extend(value.map(|value| field(key, value)));
}

fn seconds<'v>(nanos: Located<i128>) -> Value<'v> {
    string(seconds_text(nanos.value))
}

fn duration(nanos: i128) -> Duration {
    u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
}

fn count<'v>(count: Located<u32>) -> Value<'v> {
    Value::Number(count.value.to_string().into())
}

fn number<'v>(number: Located<f64>) -> Value<'v> {
    Value::Number(number_text(number.value).into())
}

fn codes<'v>(codes: &Located<Vec<Located<Code>>>) -> Value<'v> {
    Value::Array(codes.value.iter().map(|code| string(code.value.name())).collect())
}
