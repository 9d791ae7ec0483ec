//! A table as Istio's `VirtualService`.

use super::routes::{
    EVERYTHING, Route, approximate_common, attempt_timeout, call_timeout, leave_some, lose_common, retries,
    retry_on, routes,
};
use crate::RetryTable;
use crate::convert::conversion::Conversion;
use crate::convert::losses::{Losses, Whom};
use crate::convert::text::yaml_text;
use crate::convert::text::{member, string, value};
use crate::document::{Kind, Member, Node};
use crate::values::time_text;
use gax_retry::Code;
use std::time::Duration;

/// The YAML text of routes to a host called `backend`.
pub(in crate::convert) fn write_istio(table: &RetryTable) -> Conversion {
    let mut losses = Losses::new("Istio", table);
    let routes = routes(table, &losses);
    approximate_common(&routes, &mut losses);
    let leaves_some = leave_some(&routes);
    let mut routes: Vec<_> = routes.iter().map(|route| one_route(route, &mut losses)).collect();
    if leaves_some {
        // Without it Istio would reply 404 to methods that the table has nothing for.
        routes.push(http_route("prefix", EVERYTHING, None, no_retries()));
    }
    let text = yaml_text(&object(vec![
        member("apiVersion", string("networking.istio.io/v1")),
        member("kind", string("VirtualService")),
        member("metadata", object(vec![member("name", string("retry-table"))])),
        member(
            "spec",
            object(vec![
                member("hosts", value(Kind::Array(vec![string("backend")]))),
                member("http", value(Kind::Array(routes))),
            ]),
        ),
    ]));
    Conversion { text, findings: losses.into_findings() }
}

fn one_route(route: &Route<'_>, losses: &mut Losses<'_>) -> Node {
    lose_common(&route.whom, route.policy, losses);
    if route.policy.hedging().is_some() {
        losses.lose_of(&route.whom, "hedging", "leave it to the clients");
    }
    let kind = if route.is_exact { "exact" } else { "prefix" };
    let timeout = call_timeout(route.policy).map(|timeout| time(&route.whom, timeout, losses));
    let retries = retry_policy(route, losses);
    http_route(kind, &route.path, timeout, retries)
}

fn http_route(kind: &str, path: &str, timeout: Option<Node>, retries: Node) -> Node {
    let uri = object(vec![member("uri", object(vec![member(kind, string(path))]))]);
    let host = object(vec![member("destination", object(vec![member("host", string("backend"))]))]);
    let mut fields =
        vec![member("match", value(Kind::Array(vec![uri]))), member("route", value(Kind::Array(vec![host])))];
    fields.extend(timeout.map(|timeout| member("timeout", timeout)));
    fields.push(member("retries", retries));
    object(fields)
}

/// No retries are written too: without them Istio retries twice.
fn no_retries() -> Node {
    object(vec![member("attempts", number(0))])
}

fn retry_policy(route: &Route<'_>, losses: &mut Losses<'_>) -> Node {
    let (whom, settings, codes) = (&route.whom, route.policy.settings(), route.policy.codes());
    let (mut on, others) = retry_on(codes);
    for code in others {
        losses.lose_of(whom, &format!("a retry on {code}"), "Istio knows no name for the code");
    }
    if on.is_empty() {
        return no_retries();
    }
    on.push("refused-stream");
    let mut fields = vec![member("attempts", number(retries(whom, settings, losses)))];
    if let Some(timeout) = attempt_timeout(settings) {
        if codes.contains(Code::DeadlineExceeded) {
            on.push("reset");
            let help = "a try that ran into its timeout is retried only as a reset";
            losses.approximate(whom, "broken connections are retried as well", help);
        }
        fields.push(member("perTryTimeout", time(whom, timeout, losses)));
    }
    fields.push(member("retryOn", string(on.join(","))));
    losses.lose_of(whom, "the back-off", "Istio has its own, from 25 ms on");
    object(fields)
}

fn object(members: Vec<Member>) -> Node {
    value(Kind::Object(members))
}

fn number(number: u32) -> Node {
    value(Kind::Number(number.to_string()))
}

/// A time in whole milliseconds, one at least, as Istio takes none below.
fn time(whom: &Whom, duration: Duration, losses: &mut Losses<'_>) -> Node {
    let millis = duration.as_millis().max(1);
    let nanos = i128::try_from(millis).unwrap_or(i128::MAX).saturating_mul(1_000_000);
    if u128::try_from(nanos) != Ok(duration.as_nanos()) {
        let message = format!("a timeout of {} is written", time_text(nanos));
        losses.approximate(whom, &message, "Istio takes whole milliseconds");
    }
    string(time_text(nanos))
}
