//! Methods whose requests are streams.

use crate::Severity;
use crate::lint::report::{Place, Report};
use crate::lint::rule::{Needs, Rule};
use crate::lint::subject::Subject;

const POLICY_ON_CLIENT_STREAM: Rule = Rule::new(
    "policy-on-client-stream",
    Severity::Warning,
    Needs::Services,
    "a retry policy for a method whose requests are a stream: nothing retries it",
    "Give the method an entry with a timeout only.",
);

pub(super) static RULES: [Rule; 1] = [POLICY_ON_CLIENT_STREAM];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for rpc in subject.rpcs.iter().filter(|rpc| rpc.method.kind().streams_requests()) {
        if rpc.retrying().is_some() {
            let message = format!(
                "{}/{} sends a stream, which can't be sent again, so that its retry policy has no effect",
                rpc.service.name(),
                rpc.method.name()
            );
            let help = "remove the name, or give the method an entry with a timeout only";
            report.add(&POLICY_ON_CLIENT_STREAM, Place::method(rpc), message, help);
        }
    }
}
