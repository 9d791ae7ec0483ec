//! A table as both proxies have it: routes with timeouts and retries.

use crate::convert::losses::{Losses, Subject};
use crate::{Dialect, MethodPolicy, RetryTable};
use gax_retry::{Code, CodeSet, Compatibility, RetrySettings};
use std::time::Duration;

/// The codes that Envoy knows by name.
const NAMED_CODES: [(Code, &str); 5] = [
    (Code::Cancelled, "cancelled"),
    (Code::DeadlineExceeded, "deadline-exceeded"),
    (Code::Internal, "internal"),
    (Code::ResourceExhausted, "resource-exhausted"),
    (Code::Unavailable, "unavailable"),
];

/// The most retries that are written for a policy whose attempts only a timeout limits.
const MAX_RETRIES: u32 = 100;

/// The beginning of every path.
pub(super) const EVERYTHING: &str = "/";

/// The policies of requests by their paths.
#[derive(Debug)]
pub(super) struct Routes<'a> {
    table: &'a RetryTable,
    /// Service and method, each name once: methods, then services, then everything, as the first match counts.
    names: Vec<(&'a str, &'a str)>,
}

/// A path that requests are matched by, and its policy.
#[derive(Debug)]
pub(super) struct Route<'a> {
    pub(super) service: &'a str,
    /// Empty for all methods.
    pub(super) method: &'a str,
    pub(super) policy: MethodPolicy<'a>,
}

impl<'a> Routes<'a> {
    pub(super) fn new(table: &'a RetryTable) -> Self {
        let names = table.names().map(|name| (name.service(), name.method().unwrap_or("")));
        let mut names: Vec<_> =
            names.filter(|(service, method)| !service.is_empty() || method.is_empty()).collect();
        names.sort_unstable_by_key(|name| (name.0.is_empty(), name.1.is_empty(), *name));
        names.dedup();
        Self { table, names }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Route<'a>> {
        let route = |(service, method): &(&'a str, &'a str)| {
            let policy = self.table.lookup(service, method)?;
            Some(Route { service, method, policy })
        };
        self.names.iter().filter_map(route)
    }

    pub(super) fn policies(&self) -> impl Iterator<Item = MethodPolicy<'a>> {
        self.iter().map(|route| route.policy)
    }

    /// Returns whether the routes leave requests without a policy.
    ///
    /// They must be passed on all the same: a proxy refuses what no route matches.
    pub(super) fn leave_some(&self) -> bool {
        self.names.iter().all(|(service, _)| !service.is_empty())
    }
}

impl Route<'_> {
    /// `/service/method` of one method, or the beginning of a path.
    pub(super) fn path(&self) -> String {
        if self.service.is_empty() {
            return EVERYTHING.to_owned();
        }
        format!("/{}/{}", self.service, self.method)
    }

    /// Returns whether the path is that of one method.
    pub(super) fn is_exact(&self) -> bool {
        !self.method.is_empty()
    }
}

/// The codes as Envoy's `retry_on` names them, and those that it has no name for.
pub(super) fn retry_on(codes: CodeSet) -> (Vec<&'static str>, Vec<Code>) {
    let name = |code: Code| NAMED_CODES.into_iter().find(|(known, _)| *known == code).map(|(_, name)| name);
    let mut named: Vec<_> = codes.iter().filter_map(name).collect();
    if codes.contains(Code::Unavailable) {
        // A refused connection has no status: nothing was sent, and gRPC's clients call it UNAVAILABLE.
        named.push("connect-failure");
    }
    (named, codes.iter().filter(|code| name(*code).is_none()).collect())
}

/// How many retries there may be; where only the total timeout limits them, as many as it has room for if every
/// attempt fails immediately.
pub(super) fn retries(subject: &Subject, settings: &RetrySettings, losses: &mut Losses<'_>) -> u32 {
    match (settings.max_attempts(), settings.total_timeout()) {
        (Some(attempts), _) => attempts.saturating_sub(1),
        (None, None) => 0,
        (None, Some(total)) => {
            let retries = retries_within(settings, total);
            let message = format!("a number of retries must be given ({retries})");
            losses.approximate(
                subject,
                message,
                "as many as fit into the timeout with the longest waits; write maxAttempts",
            );
            retries
        }
    }
}

fn retries_within(settings: &RetrySettings, total: Duration) -> u32 {
    let delays = settings.retry_delays(Compatibility::Documented);
    let mut delay = delays.initial().as_secs_f64();
    let cap = delays.max().map_or(f64::INFINITY, |cap| cap.as_secs_f64());
    let mut at = 0.0;
    let mut retries = 0;
    while retries < MAX_RETRIES {
        at += delay.min(cap);
        if at >= total.as_secs_f64() {
            break;
        }
        delay *= delays.multiplier();
        retries += 1;
    }
    retries
}

/// The limit on a whole call. If nothing is retried, that on its only attempt is one too.
pub(in crate::convert) fn call_timeout(policy: MethodPolicy<'_>) -> Option<Duration> {
    let settings = policy.settings();
    let only = settings.initial_rpc_timeout().filter(|_| policy.codes().is_empty());
    settings.total_timeout().into_iter().chain(only).min()
}

/// The timeout of single attempts, if it is not that of the call.
pub(super) fn attempt_timeout(settings: &RetrySettings) -> Option<Duration> {
    let initial = settings.initial_rpc_timeout()?;
    settings.total_timeout().is_none_or(|total| initial < total).then_some(initial)
}

/// Returns whether a proxy has to retry resets, which is what an attempt that timed out is to it.
pub(super) fn retries_resets(settings: &RetrySettings, codes: CodeSet) -> bool {
    attempt_timeout(settings).is_some() && codes.contains(Code::DeadlineExceeded)
}

/// Records what neither proxy can express of a method.
pub(super) fn lose_common(subject: &Subject, policy: MethodPolicy<'_>, losses: &mut Losses<'_>) {
    let settings = policy.settings();
    let retried = !policy.codes().is_empty();
    let grows = settings.rpc_timeout_multiplier() > 1.0 && attempt_timeout(settings).is_some();
    let is_selective = retried && !settings.only_with_server_delay().is_empty();
    let limits_delays = retried && settings.max_server_delay().is_some();
    let is_exact = retried && !settings.jittered();
    let limits_streams = policy.wait_timeout().or(policy.idle_timeout()).is_some();
    let waits = policy.wait_for_ready() == Some(true);
    let parts = [
        (retried && grows, "rpc_timeout_multiplier", "every attempt has the first one's timeout"),
        (is_selective, "only_with_server_delay", "the codes are retried without a server delay too"),
        (limits_delays, "max_server_delay", "proxies have no such limit"),
        (is_exact, "jittered = false", "proxies always draw their waits"),
        (limits_streams, "wait and idle timeouts of streams", "keep them in TOML for the clients"),
        (policy.entry.idempotent.is_some(), "idempotent", "keep it in TOML for the clients"),
        (waits, "wait_for_ready", "a proxy replies UNAVAILABLE when no host is available"),
    ];
    losses.lose_parts(subject, parts);
}

/// Notes what differs between calls that a proxy retries and those that a client does.
pub(super) fn approximate_common(routes: &Routes<'_>, losses: &mut Losses<'_>) {
    let every_call = Subject::every_call();
    losses.lose_extras(|_| false);
    losses.lose_throttling("the nearest is a retry budget of the cluster; leave it to the clients");
    let keeps_broken = |policy: MethodPolicy<'_>| {
        let codes = policy.codes();
        codes.contains(Code::Unavailable) && !retries_resets(policy.settings(), codes)
    };
    if routes.policies().any(keeps_broken) {
        let message = "a connection that breaks after the request was sent is not retried";
        losses.approximate(
            &every_call,
            message,
            "where calls may be made twice, add reset to the conditions",
        );
    }
    if routes.policies().any(|policy| !policy.codes().is_empty() || policy.hedging().is_some()) {
        let help = "grpc-retry-pushback-ms has no effect: the proxy continues with its own back-off";
        losses.approximate(&every_call, "a server's pushback is ignored", help);
        if losses.dialect() == Dialect::Grpc {
            let help = "gRPC's waits are within a fifth of the delay";
            losses.approximate(&every_call, "waits are drawn from zero up", help);
        }
    }
}
