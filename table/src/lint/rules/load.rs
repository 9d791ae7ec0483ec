//! How much load an outage leads to, where somebody asks.

use crate::lint::report::{Place, Report};
use crate::lint::rule::{Needs, Rule};
use crate::lint::subject::{EntryView, Subject};
use crate::{Dialect, PolicyField, Severity};
use gax_retry::__private::SettingsKey;
use gax_retry::{CodeSet, Impact};
use std::collections::HashMap;

const OUTAGE_LOAD: Rule = Rule::new(
    "outage-load",
    Severity::Error,
    Needs::MaxLoad,
    "an outage multiplies the load of the service by more than is allowed",
    "Write a number of attempts, longer delays or a shorter timeout.",
);

pub(super) static RULES: [Rule; 1] = [OUTAGE_LOAD];

/// Reports the entries by which an outage multiplies the load by more than `most`.
pub(in crate::lint) fn check_load(subject: &Subject<'_>, most: f64, report: &mut Report) {
    let mut known: HashMap<(CodeSet, SettingsKey, String), (f64, bool)> = HashMap::new();
    for entry in &subject.entries {
        let policy = &entry.policy;
        let key = (policy.codes(), policy.settings().into(), format!("{:?}", policy.hedging()));
        let (load, is_capped) = *known.entry(key).or_insert_with(|| load(subject, entry));
        if load > most {
            let at_least = if is_capped { "at least " } else { "" };
            let message = format!(
                "an outage multiplies the load of the service by {at_least}{load:.1}, and {most} is allowed"
            );
            let help = "write a number of attempts, longer delays or a shorter timeout";
            report.add(&OUTAGE_LOAD, Place::value(entry, PolicyField::RetryableCodes), message, help);
        }
    }
}

/// The attempts of a call in an outage, on average and with the table's retry throttling, and whether they are more.
fn load(subject: &Subject<'_>, entry: &EntryView<'_>) -> (f64, bool) {
    let dialect = subject.table.dialect();
    let throttling = subject.table.throttling().filter(|_| dialect != Dialect::GaxJava);
    let budget = throttling.map(|throttling| throttling.budget());
    let impact = Impact::of(&entry.policy.to_policy(dialect.compatibility()).with_budget(budget));
    match impact.throttled_load() {
        Some(load) => (load, false),
        None => (impact.load(), impact.is_load_capped()),
    }
}
