//! Methods that are not safe to call twice, or can't be.

use super::codes::among;
use crate::lint::action::Action;
use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{EntryView, Subject};
use crate::{Dialect, PolicyField, TableName};
use gax_retry::Code;

declare! {
    RETRY_ON_CREATE: "retry-on-create", Warning, Services,
        "a method that creates something is retried: it may be created twice",
        "Give the method an entry without a retry policy.";
    AMBIGUOUS_CODE_ON_WRITE: "ambiguous-code-on-write", Warning, Services,
        "a method that changes something is retried on a code that does not tell whether it was done",
        "Retry the method on UNAVAILABLE only, or not at all.";
    RETRY_ON_LRO_START: "retry-on-lro-start", Warning, Services,
        "the start of a long-running operation is retried: two may run",
        "Give the method an entry without a retry policy.";
    HEDGED_NOT_IDEMPOTENT: "hedged-not-idempotent", Warning, Table,
        "a method is hedged, and the table says that it is not idempotent",
        "Retry the method instead of hedging it.";
    HEDGED_WRITE: "hedged-write", Warning, Services,
        "a method that changes something is hedged: it may be carried out several times",
        "Retry the method instead of hedging it, or say in the table that it is idempotent.";
    POLICY_ON_CLIENT_STREAM: "policy-on-client-stream", Warning, Services,
        "a retry policy for a method whose requests are a stream, which is not retried unless the program buffers it",
        "Give the method an entry with a timeout only, or let the program replay streams.";
}

/// The codes after which it is unknown whether the request was carried out.
const AMBIGUOUS: [Code; 5] =
    [Code::Cancelled, Code::Unknown, Code::DeadlineExceeded, Code::Aborted, Code::Internal];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    retried(subject, report);
    hedged(subject, report);
    streams(subject, report);
}

/// Methods whose requests are streams.
fn streams(subject: &Subject<'_>, report: &mut Report) {
    if subject.table.dialect() == Dialect::Grpc {
        // gRPC's channels buffer streams of requests, and so do calls by its rules.
        return;
    }
    for rpc in subject.rpcs.iter().filter(|rpc| rpc.method.kind().streams_requests()) {
        if rpc.repeating().is_some() {
            let message = format!(
                "{} sends a stream, which is sent again only if the program buffers it: without `replay_streams` its retry \
                 policy has no effect",
                rpc.full_name()
            );
            let help = "give the method an entry with a timeout only, or allow this rule if the program replays streams";
            report.add(&POLICY_ON_CLIENT_STREAM, Place::method(rpc), message, help);
        }
    }
}

/// Methods that are retried, although they are not safe to call twice.
fn retried(subject: &Subject<'_>, report: &mut Report) {
    for rpc in &subject.rpcs {
        let Some(policy) = rpc.retrying() else { continue };
        let (codes, place) = (policy.codes(), || Place::method(rpc));
        if rpc.method.kind().streams_requests() {
            continue;
        }
        let (name, action) = (rpc.full_name(), rpc.action);
        if action == Action::Create {
            let message = format!("{name} is retried on {codes}, so it may create something twice");
            let help = "give it an entry without a retry policy or, if its request has an id from the caller, declare it in TOML: idempotent = true";
            report.add(&RETRY_ON_CREATE, place(), message, help);
        }
        let ambiguous = among(codes, &AMBIGUOUS);
        if action.may_write() && !ambiguous.is_empty() {
            let message = format!(
                "{} and is retried on {ambiguous}, which may mean that it was done",
                effect(&name, action)
            );
            let help = match action {
                Action::Unknown => {
                    "retry it on UNAVAILABLE only or, if it only reads, say so: idempotency_level = NO_SIDE_EFFECTS in the proto, or idempotent = true in TOML"
                }
                _ => "retry it on UNAVAILABLE only, or not at all",
            };
            report.add(&AMBIGUOUS_CODE_ON_WRITE, place(), message, help);
        }
        if rpc.starts_operation() && rpc.idempotent != Some(true) {
            let message = format!("{name} starts a long-running operation and is retried on {codes}");
            let help = "give it an entry without a retry policy: the operation may have been started";
            report.add(&RETRY_ON_LRO_START, place(), message, help);
        }
    }
}

/// Methods that are hedged, although they are not safe to call twice.
fn hedged(subject: &Subject<'_>, report: &mut Report) {
    for entry in subject.entries.iter().filter(|entry| entry.policy.hedging().is_some()) {
        said(subject, entry, report);
    }
    for rpc in &subject.rpcs {
        let is_hedged = rpc.policy.is_some_and(|policy| policy.hedging().is_some());
        // The other rule reports what the table itself says.
        let is_write = (rpc.action.may_write() || rpc.action == Action::Remove) && rpc.idempotent.is_none();
        if is_hedged && is_write {
            let message = format!(
                "{} and is hedged, so that it may be carried out several times at once",
                effect(&rpc.full_name(), rpc.action)
            );
            let help = "retry it instead of hedging it or, if a repetition has no further effect, write idempotent = true in TOML";
            report.add(&HEDGED_WRITE, Place::method(rpc), message, help);
        }
    }
}

/// Returns what a method does, as far as that is known.
fn effect(name: &str, action: Action) -> String {
    match action {
        Action::Unknown => format!(
            "{name} may change something (neither its name nor an annotation says that it only reads)"
        ),
        Action::Remove => format!("{name} removes something"),
        _ => format!("{name} may change something"),
    }
}

/// The table's own word on the names of an entry that hedges.
fn said(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let is_not = |name: &&TableName<'_>| {
        subject.table.idempotent(name.service(), name.method().unwrap_or_default()) == Some(false)
    };
    let Some(name) = entry.names.iter().find(is_not) else { return };
    let message = format!("{name} is hedged, and the table says that it is not idempotent");
    let help = "retry it instead of hedging it, or correct the entry";
    report.add(&HEDGED_NOT_IDEMPOTENT, Place::value(entry, PolicyField::Hedging), message, help);
}
