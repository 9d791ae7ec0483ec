//! A table as Envoy's `RouteConfiguration`.

use super::routes::{
    EVERYTHING, Route, approximate_common, attempt_timeout, call_timeout, lose_common, retries, retry_on,
    routes,
};
use crate::convert::conversion::Conversion;
use crate::convert::losses::{Losses, Whom};
use crate::convert::text::yaml_text;
use crate::convert::text::{member, string, value};
use crate::document::{Kind, Member, Node};
use crate::values::seconds_text;
use crate::{HedgingPolicy, RetryTable};
use gax_retry::{Code, Compatibility, RetrySettings};
use std::time::Duration;

/// Envoy's shortest wait.
const SHORTEST: Duration = Duration::from_millis(1);

/// What the cluster needs, as a comment: it is no part of the routes. As many retries as there may be requests.
const CLUSTER: &str = "\
# The cluster of these routes. By default its circuit breaker lets 3 retries through at once, and calls beyond that are not
# retried; so many are as many as the requests that it lets through.
# - name: backend
#   circuit_breakers:
#     thresholds:
#     - max_requests: 1024
#       max_retries: 1024
";

/// The YAML text of routes to a cluster called `backend`.
pub(in crate::convert) fn write_envoy(table: &RetryTable) -> Conversion {
    let mut losses = Losses::new("Envoy", table);
    let routes = routes(table, &losses);
    approximate_common(&routes, &mut losses);
    let retries_any =
        routes.iter().any(|route| !route.policy.codes().is_empty() || route.policy.hedging().is_some());
    let mut routes: Vec<_> = routes.iter().map(|route| one_route(route, &mut losses)).collect();
    routes.push(pass_through());
    let host = object(vec![
        member("name", string("backend")),
        member("domains", value(Kind::Array(vec![string("*")]))),
        member("routes", value(Kind::Array(routes))),
    ]);
    let config = object(vec![
        member("name", string("retry_table")),
        member("virtual_hosts", value(Kind::Array(vec![host]))),
    ]);
    let mut text = yaml_text(&config);
    if retries_any {
        let help =
            "the cluster's circuit breaker ends the others: give it the max_retries at the end of the file";
        let message = "by default no more than 3 retries are in flight at once";
        losses.approximate(&Whom::every_call(), message, help);
        text.push_str(CLUSTER);
    }
    Conversion { text, findings: losses.into_findings() }
}

/// The last route: without it Envoy would reply 404 to methods that the table has nothing for, and to
/// requests that are not gRPC.
fn pass_through() -> Node {
    let everything = object(vec![member("prefix", string(EVERYTHING))]);
    object(vec![member("match", everything), member("route", object(action(None)))])
}

/// Where requests go, and for how long. Without a timeout Envoy would end calls after 15 s; zero is none.
fn action(timeout: Option<Duration>) -> Vec<Member> {
    vec![member("cluster", string("backend")), member("timeout", seconds(timeout.unwrap_or_default()))]
}

fn one_route(route: &Route<'_>, losses: &mut Losses<'_>) -> Node {
    lose_common(&route.whom, route.policy, losses);
    let matched = if route.is_exact { "path" } else { "prefix" };
    let mut action = action(call_timeout(route.policy));
    if let Some(hedging) = route.policy.hedging() {
        action.extend(hedge(&route.whom, hedging, losses));
    } else if !route.policy.codes().is_empty() {
        action.push(member("retry_policy", retry_policy(route, losses)));
    }
    object(vec![
        member(
            "match",
            object(vec![member(matched, string(&route.path)), member("grpc", object(Vec::new()))]),
        ),
        member("route", object(action)),
    ])
}

fn retry_policy(route: &Route<'_>, losses: &mut Losses<'_>) -> Node {
    let (whom, settings, codes) = (&route.whom, route.policy.settings(), route.policy.codes());
    let (mut on, others) = retry_on(codes);
    // gRPC's libraries retry these without being asked.
    on.push("refused-stream");
    let mut fields = Vec::new();
    let per_try = attempt_timeout(settings);
    if per_try.is_some() && codes.contains(Code::DeadlineExceeded) {
        on.push("reset");
        let help = "Envoy retries a try that ran into its timeout only as a reset";
        losses.approximate(whom, "broken connections are retried as well", help);
    }
    if !others.is_empty() {
        on.push("retriable-headers");
    }
    fields.push(member("retry_on", string(on.join(","))));
    fields.push(member("num_retries", number(retries(whom, settings, losses))));
    if let Some(timeout) = per_try {
        fields.push(member("per_try_timeout", seconds(timeout)));
    }
    if let Some(back_off) = back_off(whom, settings, losses) {
        fields.push(member("retry_back_off", back_off));
    }
    fields.extend(retriable_headers(&others));
    object(fields)
}

/// The codes that Envoy has no name for, as the header that carries them.
fn retriable_headers(codes: &[Code]) -> Option<Member> {
    let header = |code: &Code| {
        let exact = object(vec![member("exact", string(code.number().to_string()))]);
        object(vec![member("name", string("grpc-status")), member("string_match", exact)])
    };
    let headers: Vec<_> = codes.iter().map(header).collect();
    (!headers.is_empty()).then(|| member("retriable_headers", value(Kind::Array(headers))))
}

fn back_off(whom: &Whom, settings: &RetrySettings, losses: &mut Losses<'_>) -> Option<Node> {
    let delays = settings.retry_delays(Compatibility::Documented);
    let initial = delays.initial();
    if initial.is_zero() {
        losses.lose_of(whom, "a retry without a delay", "Envoy waits 25 ms and more");
        return None;
    }
    let multiplier = delays.multiplier();
    if (multiplier - 2.0).abs() > f64::EPSILON {
        let part = format!("retry_delay_multiplier {multiplier}");
        losses.lose_of(whom, &part, "Envoy doubles its delays");
    }
    let base = initial.max(SHORTEST);
    if base > initial {
        losses.approximate(whom, "the first delay is 1 ms", "Envoy waits no shorter than that");
    }
    let mut fields = vec![member("base_interval", seconds(base))];
    match delays.max() {
        Some(max) => fields.push(member("max_interval", seconds(max.max(base)))),
        None => losses.lose_of(whom, "a delay without a cap", "Envoy caps at ten times the base interval"),
    }
    Some(object(fields))
}

fn hedge(whom: &Whom, hedging: &HedgingPolicy, losses: &mut Losses<'_>) -> Vec<Member> {
    if hedging.delay().is_zero() {
        losses.lose_of(whom, "hedging without a delay", "Envoy sends another request only after a timeout");
        return Vec::new();
    }
    let help = "Envoy hedges after a timeout only, and retries errors with its own back-off";
    losses.approximate(whom, "hedging is not the same", help);
    let (mut on, others) = retry_on(hedging.non_fatal_codes());
    on.push("reset");
    if !others.is_empty() {
        on.push("retriable-headers");
    }
    let retries = hedging.max_attempts().unwrap_or(2).saturating_sub(1);
    let mut policy = vec![
        member("retry_on", string(on.join(","))),
        member("num_retries", number(retries)),
        member("per_try_timeout", seconds(hedging.delay())),
    ];
    policy.extend(retriable_headers(&others));
    let policy = object(policy);
    let hedge = object(vec![member("hedge_on_per_try_timeout", value(Kind::Bool(true)))]);
    vec![member("retry_policy", policy), member("hedge_policy", hedge)]
}

fn object(members: Vec<Member>) -> Node {
    value(Kind::Object(members))
}

fn number(number: u32) -> Node {
    value(Kind::Number(number.to_string()))
}

fn seconds(duration: Duration) -> Node {
    string(seconds_text(i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)))
}
