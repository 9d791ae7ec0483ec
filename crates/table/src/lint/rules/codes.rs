//! The codes that are retried.

use crate::lint::action::begins_with_word;
use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{EntryView, Subject};
use crate::{Dialect, HedgingPolicy, PolicyField, TableName};
use gax_retry::{Code, CodeSet};

declare! {
    PERMANENT_CODE: "permanent-code", Warning, Table,
        "a code that stays the same however often the request is sent",
        "Leave the code out.";
    INTERNAL_OR_UNKNOWN: "internal-or-unknown-retried", Warning, Table,
        "INTERNAL, UNKNOWN or CANCELLED is retried, which can have any cause",
        "Retry UNAVAILABLE only.";
    RISKY_DEFAULT: "risky-code-in-service-default", Warning, Table,
        "INTERNAL, UNKNOWN or ABORTED is retried for all methods of a service",
        "Leave the code out, or name the methods that are safe to retry.";
    ONLY_WITH_SERVER_DELAY: "only-with-server-delay-without-effect", Warning, Table,
        "only_with_server_delay names a code that is not retried, or server delays are not applied",
        "Name codes that are retried, and read the table as written.";
    ABORTED_TRANSACTION: "aborted-transaction", Warning, Table,
        "a call of a transaction is retried on ABORTED, though the whole transaction has to be repeated",
        "Leave ABORTED out, and repeat the transaction in the program.";
}

const PERMANENT: [Code; 10] = [
    Code::Ok,
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::PermissionDenied,
    Code::FailedPrecondition,
    Code::OutOfRange,
    Code::Unimplemented,
    Code::DataLoss,
    Code::Unauthenticated,
];
const VAGUE: [Code; 3] = [Code::Cancelled, Code::Unknown, Code::Internal];
const RISKY: [Code; 3] = [Code::Unknown, Code::Aborted, Code::Internal];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in &subject.entries {
        let hedged = entry.policy.hedging().map(HedgingPolicy::non_fatal_codes).unwrap_or_default();
        let permanent = among(hedged, &PERMANENT);
        if !permanent.is_empty() {
            let message = format!("a hedged call continues after {permanent}");
            let help = "leave it out: every attempt gets the same reply";
            report.add(&PERMANENT_CODE, Place::value(entry, PolicyField::Hedging), message, help);
        }
    }
    for entry in &subject.entries {
        only_with_server_delay(subject, entry, report);
    }
    for entry in subject.entries.iter().filter(|entry| entry.retries()) {
        let codes = entry.policy.codes();
        let permanent = among(codes, &PERMANENT);
        if !permanent.is_empty() {
            let help = "leave it out: the same request gets the same reply";
            let message = format!("{permanent} {} retried", verb(permanent));
            report.add(&PERMANENT_CODE, Place::code(entry, permanent), message, help);
        }
        let vague = among(codes, &VAGUE);
        if !vague.is_empty() {
            let message = format!("{vague} {} retried{}", verb(vague), affected(subject, entry));
            let help = "retry UNAVAILABLE only, unless the service promises that nothing was done";
            report.add(&INTERNAL_OR_UNKNOWN, Place::code(entry, vague), message, help);
        }
        let is_of_transaction = |name: &&TableName<'_>| {
            name.method().is_some_and(|method| {
                begins_with_word(method, "Commit") || begins_with_word(method, "Rollback")
            })
        };
        if let (true, Some(name)) =
            (codes.contains(Code::Aborted), entry.names.iter().find(is_of_transaction))
        {
            let message = format!("{name} is retried on ABORTED, which ends its transaction");
            let help = "leave ABORTED out, and repeat the whole transaction in the program";
            report.add(&ABORTED_TRANSACTION, Place::code(entry, Code::Aborted.into()), message, help);
        }
        let risky = among(codes, &RISKY);
        let default = entry.names.iter().find(|name| name.method().is_none());
        if let (false, Some(default)) = (risky.is_empty(), default) {
            let subject = if default.service().is_empty() { "every service" } else { default.service() };
            let message = format!("{risky} {} retried for all methods of {subject}", verb(risky));
            let help = "name the methods that are safe to retry";
            report.add(&RISKY_DEFAULT, Place::code(entry, risky), message, help);
        }
    }
}

/// Codes that were to count only with a delay, and don't count at all.
pub(super) fn only_with_server_delay(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let only = entry.policy.settings().only_with_server_delay();
    let hedged = entry.policy.hedging().map(HedgingPolicy::non_fatal_codes);
    let retried = hedged.unwrap_or(entry.policy.codes());
    let strays: CodeSet = only.iter().filter(|code| !retried.contains(*code)).collect();
    let place = Place::value(entry, PolicyField::OnlyWithServerDelay);
    if !strays.is_empty() {
        let message = format!("{strays} is limited to server delays, but it is not retried at all");
        report.add(&ONLY_WITH_SERVER_DELAY, place, message, "add it to codes, or leave it out here");
    } else if !only.is_empty() && subject.table.dialect() == Dialect::GaxJava {
        let message = format!("the dialect gax-java does not apply server delays, so {only} is not retried");
        report.add(&ONLY_WITH_SERVER_DELAY, place, message, "leave it out, or read the table as written");
    }
}

pub(super) fn among(codes: CodeSet, wanted: &[Code]) -> CodeSet {
    codes.iter().filter(|code| wanted.contains(code)).collect()
}

fn verb(codes: CodeSet) -> &'static str {
    if codes.len() == 1 { "is" } else { "are" }
}

/// How many methods an entry is for, if that is known.
fn affected(subject: &Subject<'_>, entry: &EntryView<'_>) -> String {
    match (&subject.services, subject.rpcs_of(entry).count()) {
        (None, _) => String::new(),
        (Some(_), 1) => ", for one method".to_owned(),
        (Some(_), count) => format!(", for {count} methods"),
    }
}
