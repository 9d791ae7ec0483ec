//! Entries that do nothing, or the same as others.

use super::names::MIXED_IN;
use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{EntryView, Subject};
use crate::{SettingsKey, TableFormat};
use gax_retry::CodeSet;
use std::collections::{HashMap, HashSet};

declare! {
    EMPTY_TABLE: "empty-table", Warning, Table,
        "a table that has no entry",
        "Add entries, or remove the file.";
    DEAD_ENTRY: "dead-entry", Warning, Services,
        "an entry that is for no method",
        "Correct the entry's names, or remove it.";
    ENTRY_WITHOUT_NAME: "entry-without-name", Warning, Table,
        "an entry that names no service",
        "Name the services or methods that it is for, or remove it.";
    SAME_SETTINGS: "same-settings-two-entries", Note, Table,
        "two entries with the same settings",
        "Move the names of both into one entry.";
    CATCH_ALL_NAME: "catch-all-name", Note, Table,
        "an entry for every service, which Google's generators do not apply",
        "Name the services that are meant.";
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for file in subject.table.files().iter().filter(|file| file.is_empty()) {
        let help = match file.format {
            Some(TableFormat::ServiceConfig) => "add an entry to methodConfig, or remove the file",
            Some(TableFormat::Toml) => "add an [[entry]], or remove the file",
            Some(TableFormat::GapicYaml | TableFormat::ClientConfig) => {
                "add methods to interfaces, or remove the file"
            }
            Some(TableFormat::OpenApi) => "add paths, or remove the file",
            None => continue,
        };
        report.add(&EMPTY_TABLE, Place::of(file.start.as_ref()), "the table has no entries", help);
    }
    let mut seen: HashMap<_, &EntryView<'_>> = HashMap::new();
    for entry in &subject.entries {
        for name in entry.names.iter().filter(|name| name.service().is_empty() && name.method().is_none()) {
            if !entry.is_of_service_config() {
                continue;
            }
            let help = "name the services: Google's generators do not apply an entry for everything";
            report.add(&CATCH_ALL_NAME, Place::name(name), "this entry is for every service", help);
        }
        if entry.names.is_empty() {
            let help = "name the services or methods that it is for, or remove it";
            report.add(&ENTRY_WITHOUT_NAME, Place::entry(entry), "this entry has no names", help);
        }
        // These forms list each method by itself.
        let is_list =
            matches!(entry.policy.format(), Some(TableFormat::GapicYaml | TableFormat::ClientConfig));
        let content = content(entry);
        if let (false, Some(first)) = (is_list, seen.get(&content)) {
            let place = first.policy.origin().map_or_else(String::new, |origin| format!(" (at {origin})"));
            let message = format!("this entry has the same settings as an earlier one{place}");
            report.add(&SAME_SETTINGS, Place::entry(entry), message, "move its names there");
        } else {
            seen.insert(content, entry);
        }
        check_use(subject, entry, report);
    }
}

/// Findings that need the services.
fn check_use(subject: &Subject<'_>, entry: &EntryView<'_>, report: &mut Report) {
    if subject.services.is_none() || entry.names.is_empty() {
        return;
    }
    let has_method = |methods: &HashSet<&str>, name| methods.contains(name) || MIXED_IN.contains(&name);
    let resolves = entry.names.iter().any(|name| match name.method() {
        None if name.service().is_empty() => true,
        method => subject
            .find(name.service())
            .is_some_and(|methods| method.is_none_or(|method| has_method(methods, method))),
    });
    if !resolves {
        let message = "no name of this entry is one of a method or service, so it has no effect";
        report.add(&DEAD_ENTRY, Place::entry(entry), message, "correct its names, or remove it");
    }
}

/// Everything that an entry says: two entries with the same are one.
fn content(entry: &EntryView<'_>) -> (CodeSet, SettingsKey, String) {
    let policy = &entry.policy;
    let flags = (policy.wait_for_ready(), policy.idempotent(), policy.hedging());
    let times = (policy.wait_timeout(), policy.idle_timeout());
    let sizes = (policy.max_request_message_bytes(), policy.max_response_message_bytes());
    (policy.codes(), policy.settings().into(), format!("{flags:?} {times:?} {sizes:?} {}", named(entry)))
}

/// If a format names its definitions, entries with other names differ on purpose.
fn named<'a>(entry: &EntryView<'a>) -> &'a str {
    let key = entry.policy.params_key();
    if key.starts_with("retry_policy_") || key.starts_with("no_retry_") { "" } else { key }
}
