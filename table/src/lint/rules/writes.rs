//! Methods that are not safe to call twice.

use super::codes::among;
use crate::Severity;
use crate::lint::action::Action;
use crate::lint::report::{Place, Report};
use crate::lint::rule::{Needs, Rule};
use crate::lint::subject::Subject;
use gax_retry::Code;

const RETRY_ON_CREATE: Rule = Rule::new(
    "retry-on-create",
    Severity::Warning,
    Needs::Services,
    "a method that makes something is retried: it may be made twice",
    "Give the method an entry without a retry policy.",
);
const AMBIGUOUS_CODE_ON_WRITE: Rule = Rule::new(
    "ambiguous-code-on-write",
    Severity::Warning,
    Needs::Services,
    "a method that changes something is retried on a code that leaves open whether it was done",
    "Retry the method on UNAVAILABLE only, or not at all.",
);
const RETRY_ON_LRO_START: Rule = Rule::new(
    "retry-on-lro-start",
    Severity::Warning,
    Needs::Services,
    "the start of a long-running operation is retried: two may run",
    "Give the method an entry without a retry policy.",
);

pub(super) static RULES: [Rule; 3] = [RETRY_ON_CREATE, AMBIGUOUS_CODE_ON_WRITE, RETRY_ON_LRO_START];

/// The codes after which nobody knows whether the request was carried out.
const AMBIGUOUS: [Code; 5] =
    [Code::Cancelled, Code::Unknown, Code::DeadlineExceeded, Code::Aborted, Code::Internal];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for rpc in &subject.rpcs {
        let Some(policy) = rpc.retrying() else { continue };
        let (method, codes, place) = (rpc.method, policy.codes(), || Place::method(rpc));
        if method.kind().streams_requests() {
            continue;
        }
        let name = rpc.full_name();
        let action = Action::of(method);
        if action == Action::Create {
            let message = format!("{name} is retried on {codes}, so that what it makes may be made twice");
            let help =
                "give it an entry without a retry policy, unless its request has an id of the caller's";
            report.add(&RETRY_ON_CREATE, place(), message, help);
        }
        let ambiguous = among(codes, &AMBIGUOUS);
        if matches!(action, Action::Create | Action::Change) && !ambiguous.is_empty() {
            let message = format!(
                "{name} changes something and is retried on {ambiguous}, which may mean that it was done"
            );
            report.add(
                &AMBIGUOUS_CODE_ON_WRITE,
                place(),
                message,
                "retry it on UNAVAILABLE only, or not at all",
            );
        }
        if rpc.starts_operation() {
            let message = format!("{name} starts a long-running operation and is retried on {codes}");
            let help = "give it an entry without a retry policy: the operation may have been started";
            report.add(&RETRY_ON_LRO_START, place(), message, help);
        }
    }
}
