//! Methods whose requests are streams.

use crate::lint::report::{Place, Report};
use crate::lint::rule::{Needs, Rule};
use crate::lint::subject::Subject;
use crate::{Dialect, Severity};

const POLICY_ON_CLIENT_STREAM: Rule = Rule::new(
    "policy-on-client-stream",
    Severity::Warning,
    Needs::Services,
    "a retry policy for a method whose requests are a stream, which is not retried unless the program buffers it",
    "Give the method an entry with a timeout only, or let the program replay streams.",
);

pub(super) static RULES: [Rule; 1] = [POLICY_ON_CLIENT_STREAM];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    if subject.table.dialect() == Dialect::Grpc {
        // gRPC's channels buffer streams of requests, and so do calls by its rules.
        return;
    }
    for rpc in subject.rpcs.iter().filter(|rpc| rpc.method.kind().streams_requests()) {
        if rpc.retrying().is_some() {
            let message = format!(
                "{}/{} sends a stream, which is sent again only if the program buffers it: without `replay_streams` its retry \
                 policy has no effect",
                rpc.service.name(),
                rpc.method.name()
            );
            let help = "give the method an entry with a timeout only, or allow this rule if the program replays streams";
            report.add(&POLICY_ON_CLIENT_STREAM, Place::method(rpc), message, help);
        }
    }
}
