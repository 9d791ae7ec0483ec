//! What bounds an operation: timeouts and the number of attempts.

use crate::lint::report::{Place, Report};
use crate::lint::rule::{Needs, Rule};
use crate::lint::subject::{EntryView, Subject};
use crate::{Dialect, PolicyField, Severity};
use gax_retry::Code;
use std::time::Duration;

const MAX_ATTEMPTS_ABOVE_5: Rule = Rule::new(
    "max-attempts-above-5",
    Severity::Note,
    Needs::Table,
    "more attempts than gRPC itself ever makes",
    "Write a number from 2 to 5.",
);
const DEADLINE_RETRY_UNREACHABLE: Rule = Rule::new(
    "deadline-retry-unreachable",
    Severity::Warning,
    Needs::Table,
    "DEADLINE_EXCEEDED is retried, though an attempt may use up all the time there is",
    "Leave DEADLINE_EXCEEDED out, or give attempts a shorter timeout than the operation (initial_rpc_timeout in TOML).",
);
const NO_TIMEOUT: Rule = Rule::new(
    "no-timeout",
    Severity::Warning,
    Needs::Table,
    "an entry without a timeout: a call may hang for ever",
    "Write a timeout above zero.",
);
const LONG_UNARY_TIMEOUT: Rule = Rule::new(
    "long-unary-timeout",
    Severity::Note,
    Needs::Table,
    "a unary call may take more than an hour",
    "Write an hour or less, or make the method a long-running operation.",
);
const SHORT_TIMEOUT: Rule = Rule::new(
    "short-timeout",
    Severity::Note,
    Needs::Table,
    "a timeout of less than five seconds",
    "Write five seconds or more.",
);

pub(super) static RULES: [Rule; 5] =
    [MAX_ATTEMPTS_ABOVE_5, DEADLINE_RETRY_UNREACHABLE, NO_TIMEOUT, LONG_UNARY_TIMEOUT, SHORT_TIMEOUT];

/// gRPC itself makes no more attempts than this.
const MOST_ATTEMPTS: u32 = 5;
const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_secs(5);

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for entry in &subject.entries {
        attempts(subject, entry, report);
        timeout(subject, entry, report);
        unreachable(entry, report);
    }
}

fn attempts(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let attempts = entry.policy.settings().max_attempts().filter(|count| *count > MOST_ATTEMPTS);
    if let (Some(count), Dialect::AsWritten) = (attempts, subject.table.dialect()) {
        let message = format!("gRPC itself makes {MOST_ATTEMPTS} attempts at most, not {count}");
        let origin = Place::value(entry, PolicyField::MaxAttempts);
        report.add(&MAX_ATTEMPTS_ABOVE_5, origin, message, "write a number from 2 to 5");
    }
}

fn timeout(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let origin = Place::value(entry, PolicyField::TotalTimeout);
    let Some(total) = entry.policy.settings().total_timeout() else {
        if entry.policy.settings().max_rpc_timeout().is_none() && !entry.names.is_empty() {
            let help = "write a timeout above zero, or a call may hang for ever";
            report.add(&NO_TIMEOUT, origin, "this entry has no timeout", help);
        }
        return;
    };
    if total < SHORT {
        let retry = if entry.policy.hedging().is_some() { "" } else { ", and none for a retry" };
        let message = format!("a timeout of {total:?} leaves little time for a slow reply{retry}");
        report.add(
            &SHORT_TIMEOUT,
            origin.clone(),
            message,
            "write 5s or more, unless slow replies are known to take less",
        );
    }
    // Without services any method may be unary.
    let mut unary = subject.rpcs_of(entry).filter(|rpc| rpc.method.kind().is_unary());
    if total > LONG && (subject.services.is_none() || unary.next().is_some()) {
        let message = format!("a call may take {total:?}");
        let help = "a unary call rarely needs an hour: make it a long-running operation, or write less";
        report.add(&LONG_UNARY_TIMEOUT, origin, message, help);
    }
}

fn unreachable(entry: &EntryView<'_>, report: &mut Report) {
    let settings = entry.policy.settings();
    let Some(total) = settings.total_timeout() else { return };
    let attempt = settings.initial_rpc_timeout().unwrap_or(total);
    if entry.policy.codes().contains(Code::DeadlineExceeded) && attempt >= total {
        let message = format!("DEADLINE_EXCEEDED is retried, but an attempt may take the whole {total:?}");
        let help = "give attempts a shorter timeout than the operation, or leave the code out: \
                    after an attempt's timeout no time is left for a retry";
        report.add(
            &DEADLINE_RETRY_UNREACHABLE,
            Place::code(entry, Code::DeadlineExceeded.into()),
            message,
            help,
        );
    }
}
