//! A table as Envoy's `RouteConfiguration`.

use super::routes::{
    EVERYTHING, Route, Routes, approximate_common, attempt_timeout, call_timeout, lose_common, retries,
    retries_resets, retry_on,
};
use crate::convert::losses::{Losses, Subject};
use crate::convert::text::{Field, Value, field, object, string, whole_number, write_yaml};
use crate::values::{nanos, seconds_text};
use crate::{Finding, HedgingPolicy, MethodPolicy, RetryTable};
use gax_retry::{Code, Compatibility, RetrySettings};
use std::fmt;
use std::time::Duration;

/// Envoy's shortest wait.
const SHORTEST: Duration = Duration::from_millis(1);

/// The cluster's needs, as a comment: it is no part of the routes. As many retries as there may be requests.
const CLUSTER: &str = "\
# The cluster of these routes. By default its circuit breaker lets 3 retries through at once, and calls beyond that are not
# retried; this allows as many as requests.
# - name: backend
#   circuit_breakers:
#     thresholds:
#     - max_requests: 1024
#       max_retries: 1024
";

/// Writes the YAML text of routes to a cluster called `backend`.
pub(in crate::convert) fn write_envoy(
    table: &RetryTable,
    out: &mut dyn fmt::Write,
) -> Result<Vec<Finding>, fmt::Error> {
    let mut losses = Losses::new("Envoy", table);
    let routes = Routes::new(table);
    approximate_common(&routes, &mut losses);
    let retries_any =
        routes.policies().any(|policy| !policy.codes().is_empty() || policy.hedging().is_some());
    let each = routes.iter().map(|route| one_route(&route, &mut losses));
    let host = object(vec![
        field("name", string("backend")),
        field("domains", Value::Array(vec![string("*")])),
        field("routes", Value::elements(each.chain(std::iter::once_with(pass_through)))),
    ]);
    let config =
        object(vec![field("name", string("retry_table")), field("virtual_hosts", Value::Array(vec![host]))]);
    write_yaml(config, out)?;
    if retries_any {
        let help =
            "the cluster's circuit breaker ends the others: give it the max_retries at the end of the file";
        let message = "by default no more than 3 retries are in flight at once";
        losses.approximate(&Subject::every_call(), message, help);
        out.write_str(CLUSTER)?;
    }
    Ok(losses.into_findings())
}

/// The last route: without it Envoy would reply 404 to methods that the table has no entry for, and to
/// requests that are not gRPC.
fn pass_through<'v>() -> Value<'v> {
    let everything = object(vec![field("prefix", string(EVERYTHING))]);
    object(vec![field("match", everything), field("route", object(action(None)))])
}

/// Where requests go, and for how long. Without a timeout Envoy would end calls after 15 s; zero is none. One that passes is
/// `UNAVAILABLE` to the caller, the end of the longest stream `DEADLINE_EXCEEDED`, which the server learns as `grpc-timeout` too.
fn action<'v>(timeout: Option<Duration>) -> Vec<Field<'v>> {
    let mut action = vec![field("cluster", string("backend")), field("timeout", seconds(Duration::ZERO))];
    let longest = timeout.map(|timeout| object(vec![field("max_stream_duration", seconds(timeout))]));
    action.extend(longest.map(|longest| field("max_stream_duration", longest)));
    action
}

fn one_route<'v>(route: &Route<'_>, losses: &mut Losses<'_>) -> Value<'v> {
    let subject = losses.subject(route.service, route.method);
    lose_common(&subject, route.policy, losses);
    let matched = if route.is_exact() { "path" } else { "prefix" };
    let timeout = call_timeout(route.policy);
    if timeout.is_some_and(|timeout| timeout < SHORTEST) {
        losses.approximate(
            &subject,
            "a timeout of 1 ms is written",
            "Envoy takes whole milliseconds, and zero as none",
        );
    }
    let mut action = action(timeout.map(|timeout| timeout.max(SHORTEST)));
    if let Some(hedging) = route.policy.hedging() {
        action.extend(hedge(&subject, hedging, losses));
    } else if !route.policy.codes().is_empty() {
        action.push(field("retry_policy", retry_policy(&subject, route.policy, losses)));
    }
    object(vec![
        field("match", object(vec![field(matched, string(route.path())), field("grpc", object(Vec::new()))])),
        field("route", object(action)),
    ])
}

fn retry_policy<'v>(subject: &Subject, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) -> Value<'v> {
    let (settings, codes) = (policy.settings(), policy.codes());
    let (mut on, others) = retry_on(codes);
    // gRPC's libraries retry these without being asked.
    on.push("refused-stream");
    let mut fields = Vec::new();
    let per_try = attempt_timeout(settings);
    if retries_resets(settings, codes) {
        on.push("reset");
        let help = "Envoy retries an attempt that timed out only as a reset";
        losses.approximate(subject, "broken connections are retried as well", help);
    }
    if !others.is_empty() {
        on.push("retriable-headers");
    }
    fields.push(field("retry_on", string(on.join(","))));
    fields.push(field("num_retries", whole_number(retries(subject, settings, losses))));
    if let Some(timeout) = per_try {
        fields.push(field("per_try_timeout", seconds(timeout)));
    }
    if let Some(back_off) = back_off(subject, settings, losses) {
        fields.push(field("retry_back_off", back_off));
    }
    fields.extend(retriable_headers(&others));
    object(fields)
}

/// The codes that Envoy has no name for, as the header that carries them.
fn retriable_headers<'v>(codes: &[Code]) -> Option<Field<'v>> {
    let header = |code: &Code| {
        let exact = object(vec![field("exact", string(code.number().to_string()))]);
        object(vec![field("name", string("grpc-status")), field("string_match", exact)])
    };
    let headers: Vec<_> = codes.iter().map(header).collect();
    (!headers.is_empty()).then(|| field("retriable_headers", Value::Array(headers)))
}

fn back_off<'v>(subject: &Subject, settings: &RetrySettings, losses: &mut Losses<'_>) -> Option<Value<'v>> {
    let delays = settings.retry_delays(Compatibility::Documented);
    let initial = delays.initial();
    if initial.is_zero() {
        losses.lose_of(subject, "a retry without a delay", "Envoy waits 25 ms and more");
        return None;
    }
    let multiplier = delays.multiplier();
    if (multiplier - 2.0).abs() > f64::EPSILON {
        let part = format!("retry_delay_multiplier {multiplier}");
        losses.lose_of(subject, part, "Envoy doubles its delays");
    }
    let base = initial.max(SHORTEST);
    if base > initial {
        losses.approximate(subject, "the first delay is 1 ms", "Envoy has no shorter wait");
    }
    let mut fields = vec![field("base_interval", seconds(base))];
    match delays.max() {
        Some(max) => fields.push(field("max_interval", seconds(max.max(base)))),
        None => losses.lose_of(subject, "a delay without a cap", "Envoy caps at ten times the base interval"),
    }
    Some(object(fields))
}

fn hedge<'v>(subject: &Subject, hedging: &HedgingPolicy, losses: &mut Losses<'_>) -> Vec<Field<'v>> {
    if hedging.delay().is_zero() {
        losses.lose_of(
            subject,
            "hedging without a delay",
            "Envoy sends another request only after a timeout",
        );
        return Vec::new();
    }
    if hedging.percentile().is_some() {
        losses.lose_of(subject, "hedging.percentile", "the delay counts");
    }
    let help = "Envoy ignores an error that comes after the delay, where gRPC sends the next attempt, and retries broken \
                connections";
    losses.approximate(subject, "hedging is not the same", help);
    let (mut on, others) = retry_on(hedging.non_fatal_codes());
    on.push("reset");
    if !others.is_empty() {
        on.push("retriable-headers");
    }
    let retries = hedging.max_attempts().unwrap_or(2).saturating_sub(1);
    // Envoy waits for its back-off after the delay too, and after an error, where gRPC doesn't wait.
    let back_off = object(vec![field("base_interval", seconds(SHORTEST))]);
    let mut policy = vec![
        field("retry_on", string(on.join(","))),
        field("num_retries", whole_number(retries)),
        field("per_try_timeout", seconds(hedging.delay())),
        field("retry_back_off", back_off),
    ];
    policy.extend(retriable_headers(&others));
    let policy = object(policy);
    let hedge = object(vec![field("hedge_on_per_try_timeout", Value::Bool(true))]);
    vec![field("retry_policy", policy), field("hedge_policy", hedge)]
}

fn seconds<'v>(duration: Duration) -> Value<'v> {
    string(seconds_text(nanos(duration)))
}
