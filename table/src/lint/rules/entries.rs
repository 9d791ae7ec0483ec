//! Entries that do nothing, or the same as others.

use super::names::MIXED_IN;
use crate::lint::report::Report;
use crate::lint::rule::{Needs, Rule};
use crate::lint::subject::{EntryView, Rpc, Subject};
use crate::{ServiceDescription, Severity};
use gax_retry::RetrySettings;
use std::collections::HashMap;
use std::time::Duration;

const DEAD_ENTRY: Rule =
    Rule::new("dead-entry", Severity::Warning, Needs::Services, "an entry that is for no method");
const DEFAULT_SHADOWED: Rule = Rule::new(
    "default-shadowed",
    Severity::Note,
    Needs::Services,
    "an entry for a service whose methods all have entries of their own",
);
const SAME_SETTINGS: Rule =
    Rule::new("same-settings-two-entries", Severity::Note, Needs::Table, "two entries that say the same");
const CATCH_ALL_NAME: Rule = Rule::new(
    "catch-all-name",
    Severity::Note,
    Needs::Table,
    "an entry for every service, which Google's generators do not apply",
);

pub(super) static RULES: [Rule; 4] = [DEAD_ENTRY, DEFAULT_SHADOWED, SAME_SETTINGS, CATCH_ALL_NAME];

/// Everything that an entry says: two entries with the same are one.
#[derive(PartialEq, Eq, Hash)]
struct Content {
    codes: String,
    times: [Option<Duration>; 5],
    multipliers: [Option<u64>; 2],
    max_attempts: Option<u32>,
    jittered: bool,
    rest: String,
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let mut seen: HashMap<Content, &EntryView<'_>> = HashMap::new();
    for entry in &subject.entries {
        let origin = entry.policy.origin();
        for name in entry.names.iter().filter(|name| name.service().is_empty() && name.method().is_none()) {
            let help = "name the services: Google's generators do not apply an entry for everything";
            report.add(&CATCH_ALL_NAME, name.origin(), "this entry is for every service", help);
        }
        if let Some(first) = seen.get(&content(entry)) {
            let place = first.policy.origin().map_or_else(String::new, |origin| format!(" (at {origin})"));
            let message = format!("this entry says the same as an earlier one{place}");
            report.add(&SAME_SETTINGS, origin, message, "move its names there, or give it values of its own");
        } else {
            seen.insert(content(entry), entry);
        }
        check_use(subject, entry, report);
    }
}

fn has_method(service: &ServiceDescription, name: &str) -> bool {
    service.methods().iter().any(|method| method.name() == name) || MIXED_IN.contains(&name)
}

/// What only the services can tell.
fn check_use(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    let Some(services) = subject.services else { return };
    let known = || services.iter().chain(subject.imported);
    let resolves = entry.names.iter().any(|name| {
        let mut service = known().filter(|service| service.name() == name.service());
        name.service().is_empty() && name.method().is_none()
            || service.any(|service| name.method().is_none_or(|method| has_method(service, method)))
    });
    if !resolves {
        let message = "no name of this entry is one of a method or service, so it has no effect";
        return report.add(&DEAD_ENTRY, entry.policy.origin(), message, "correct its names, or remove it");
    }
    for name in entry.names.iter().filter(|name| name.method().is_none()) {
        let mut own = subject.rpcs.iter().filter(|rpc| rpc.service.name() == name.service()).peekable();
        if own.peek().is_some() && own.all(Rpc::is_named) {
            let message = format!("every method of {} has an entry of its own", name.service());
            report.add(&DEFAULT_SHADOWED, name.origin(), message, "remove the name: it has no effect yet");
        }
    }
}

fn content(entry: &EntryView<'_>) -> Content {
    let policy = &entry.policy;
    let settings: &RetrySettings = policy.settings();
    Content {
        codes: policy.codes().to_string(),
        times: [
            settings.total_timeout(),
            settings.initial_retry_delay(),
            settings.max_retry_delay(),
            settings.initial_rpc_timeout(),
            settings.max_rpc_timeout(),
        ],
        multipliers: [
            settings.retry_delay_multiplier().map(f64::to_bits),
            Some(settings.rpc_timeout_multiplier().to_bits()),
        ],
        max_attempts: settings.max_attempts(),
        jittered: settings.jittered(),
        rest: format!("{:?} {:?} {}", policy.wait_for_ready(), policy.hedging(), named(entry)),
    }
}

/// Where a format names its definitions, entries with other names differ on purpose.
fn named<'a>(entry: &EntryView<'a>) -> &'a str {
    let key = entry.policy.params_key();
    if key.starts_with("retry_policy_") || key.starts_with("no_retry_") { "" } else { key }
}
