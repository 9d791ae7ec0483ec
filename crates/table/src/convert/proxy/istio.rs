//! A table as Istio's `VirtualService`.

use super::routes::{
    EVERYTHING, Route, Routes, approximate_common, attempt_timeout, call_timeout, lose_common, retries,
    retries_resets, retry_on,
};
use crate::convert::losses::{Losses, Subject};
use crate::convert::text::{Value, field, object, string, whole_number, write_yaml};
use crate::{Finding, MethodPolicy, RetryTable};
use gax_text::time_text;
use std::fmt;
use std::time::Duration;

/// Writes the YAML text of routes to a host called `backend`.
pub(in crate::convert) fn write_istio(
    table: &RetryTable,
    out: &mut dyn fmt::Write,
) -> Result<Vec<Finding>, fmt::Error> {
    let mut losses = Losses::new("Istio", table);
    let routes = Routes::new(table);
    approximate_common(&routes, &mut losses);
    if routes.policies().any(|policy| call_timeout(policy).is_some()) {
        let help = "callers that look for DEADLINE_EXCEEDED must set their own deadline";
        losses.approximate(&Subject::every_call(), "a timeout is reported as UNAVAILABLE", help);
    }
    // Without it Istio would reply 404 to methods that the table has no entry for.
    let others = routes.leave_some().then(|| http_route("prefix", EVERYTHING.to_owned(), None, no_retries()));
    let each = routes.iter().map(|route| one_route(&route, &mut losses)).chain(others);
    let config = object(vec![
        field("apiVersion", string("networking.istio.io/v1")),
        field("kind", string("VirtualService")),
        field("metadata", object(vec![field("name", string("retry-table"))])),
        field(
            "spec",
            object(vec![
                field("hosts", Value::Array(vec![string("backend")])),
                field("http", Value::elements(each)),
            ]),
        ),
    ]);
    write_yaml(config, out)?;
    Ok(losses.into_findings())
}

fn one_route<'v>(route: &Route<'_>, losses: &mut Losses<'_>) -> Value<'v> {
    let subject = losses.subject(route.service, route.method);
    lose_common(&subject, route.policy, losses);
    if route.policy.hedging().is_some() {
        losses.lose_of(&subject, "hedging", "leave it to the clients");
    }
    let kind = if route.is_exact() { "exact" } else { "prefix" };
    let timeout = call_timeout(route.policy).map(|timeout| time(&subject, timeout, losses));
    let retries = retry_policy(&subject, route.policy, losses);
    http_route(kind, route.path(), timeout, retries)
}

fn http_route<'v>(
    kind: &'static str,
    path: String,
    timeout: Option<Value<'v>>,
    retries: Value<'v>,
) -> Value<'v> {
    let uri = object(vec![field("uri", object(vec![field(kind, string(path))]))]);
    let host = object(vec![field("destination", object(vec![field("host", string("backend"))]))]);
    let mut fields = vec![field("match", Value::Array(vec![uri])), field("route", Value::Array(vec![host]))];
    fields.extend(timeout.map(|timeout| field("timeout", timeout)));
    fields.push(field("retries", retries));
    object(fields)
}

/// No retries are written too: without them Istio retries twice.
fn no_retries<'v>() -> Value<'v> {
    object(vec![field("attempts", whole_number(0))])
}

fn retry_policy<'v>(subject: &Subject, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) -> Value<'v> {
    let (settings, codes) = (policy.settings(), policy.codes());
    let (mut on, others) = retry_on(codes);
    for code in others {
        losses.lose_of(subject, format!("a retry on {code}"), "Istio has no name for the code");
    }
    if on.is_empty() {
        return no_retries();
    }
    on.push("refused-stream");
    let mut fields = vec![field("attempts", whole_number(retries(subject, settings, losses)))];
    if let Some(timeout) = attempt_timeout(settings) {
        if retries_resets(settings, codes) {
            on.push("reset");
            let help = "an attempt that timed out is retried only as a reset";
            losses.approximate(subject, "broken connections are retried as well", help);
        }
        fields.push(field("perTryTimeout", time(subject, timeout, losses)));
    }
    fields.push(field("retryOn", string(on.join(","))));
    losses.lose_of(subject, "the back-off", "Istio has its own, from 25 ms on");
    object(fields)
}

/// A time in whole milliseconds, one at least, as Istio takes none below.
fn time<'v>(subject: &Subject, duration: Duration, losses: &mut Losses<'_>) -> Value<'v> {
    let millis = duration.as_millis().max(1);
    let nanos = i128::try_from(millis).unwrap_or(i128::MAX).saturating_mul(1_000_000);
    if u128::try_from(nanos) != Ok(duration.as_nanos()) {
        let message = format!("a timeout of {} is written", time_text(nanos));
        losses.approximate(subject, message, "Istio takes whole milliseconds");
    }
    string(time_text(nanos))
}
