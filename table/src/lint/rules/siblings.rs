//! Versions of an API whose tables drift apart.

use crate::lint::rule::{Needs, Rule};
use crate::lint::version::{is_version, without_version};
use crate::{Finding, MethodPolicy, RetryTable, Severity, TableName};
use std::collections::{BTreeMap, BTreeSet};

const SIBLING_DRIFT: Rule = Rule::new(
    "sibling-drift",
    Severity::Note,
    Needs::Siblings,
    "the same method has other codes or limits in another version of its API",
    "Give both versions the same values, or ignore the finding in gax.toml with the reason.",
);

pub(super) static RULES: [Rule; 1] = [SIBLING_DRIFT];

/// Methods that the tables of several versions of an API treat differently.
///
/// Services are the same if their names differ in versions only (`a.v1.B` and `a.v1beta.B`). A method is
/// compared where one of the tables names it and the other has an entry for it.
///
/// # Examples
///
/// ```
/// use gax_table::RetryTable;
/// use gax_table::lint::sibling_drift;
///
/// let v1 = r#"{"methodConfig": [{"name": [{"service": "a.v1.B", "method": "Get"}], "timeout": "5s"}]}"#;
/// let v2 = r#"{"methodConfig": [{"name": [{"service": "a.v2.B", "method": "Get"}], "timeout": "9s"}]}"#;
/// let findings = sibling_drift(&[RetryTable::parse(v1)?, RetryTable::parse(v2)?]);
/// assert_eq!(findings[0].message(), "a.v2.B/Get has other settings than a.v1.B/Get: total timeout 9s, not 5s");
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[must_use]
pub fn sibling_drift(tables: &[RetryTable]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (service, versions) in services(tables) {
        let methods: BTreeSet<&str> = versions
            .iter()
            .flat_map(|(_, table)| table.names().filter(|name| without_version(name.service()) == service))
            .filter_map(|name| name.method())
            .collect();
        for method in methods {
            findings.extend(drift(&versions, method));
        }
    }
    findings
}

/// Per name without versions, the services with their tables.
fn services(tables: &[RetryTable]) -> BTreeMap<String, Vec<(&str, &RetryTable)>> {
    let mut services: BTreeMap<String, Vec<(&str, &RetryTable)>> = BTreeMap::new();
    for table in tables {
        let names: BTreeSet<&str> = table.names().map(|name| name.service()).collect();
        for name in names.into_iter().filter(|name| name.split('.').any(is_version)) {
            services.entry(without_version(name)).or_default().push((name, table));
        }
    }
    services.retain(|_, versions| versions.len() > 1);
    services
}

/// How one method differs from the first version that has an entry for it.
fn drift(versions: &[(&str, &RetryTable)], method: &str) -> Vec<Finding> {
    let mut first: Option<(&str, MethodPolicy<'_>)> = None;
    let mut findings = Vec::new();
    for (service, table) in versions {
        let Some(policy) = table.lookup(service, method) else { continue };
        let Some((other, known)) = first else {
            first = Some((service, policy));
            continue;
        };
        let differences = differences(known, policy);
        if !differences.is_empty() && other != *service {
            let message = format!(
                "{service}/{method} has other settings than {other}/{method}: {}",
                differences.join(", ")
            );
            let named = |name: &TableName<'_>| name.service() == *service && name.method() == Some(method);
            let name = table.names().find(named);
            let origin = name.and_then(|name| name.origin()).or(policy.origin());
            let finding = Finding::new(SIBLING_DRIFT.id(), SIBLING_DRIFT.severity(), message);
            let help = "give both the same values, or say in gax.toml why they differ";
            let finding = finding.with_help(help).about(format!("{service}/{method}"));
            findings.push(finding.at(origin.cloned()));
        }
    }
    findings
}

fn differences(known: MethodPolicy<'_>, policy: MethodPolicy<'_>) -> Vec<String> {
    let mut differences = Vec::new();
    let mut add = |what: &str, new: String, old: String| {
        if new != old {
            differences.push(format!("{what} {new}, not {old}"));
        }
    };
    let codes = |policy: MethodPolicy<'_>| {
        if policy.codes().is_empty() { "none".to_owned() } else { policy.codes().to_string() }
    };
    let time = |time: Option<std::time::Duration>| time.map_or("none".to_owned(), |time| format!("{time:?}"));
    let (new, old) = (policy.settings(), known.settings());
    add("codes", codes(policy), codes(known));
    add("total timeout", time(new.total_timeout()), time(old.total_timeout()));
    add("first delay", time(new.initial_retry_delay()), time(old.initial_retry_delay()));
    add("longest delay", time(new.max_retry_delay()), time(old.max_retry_delay()));
    let factor = |factor: Option<f64>| factor.map_or("none".to_owned(), |factor| factor.to_string());
    add("multiplier", factor(new.retry_delay_multiplier()), factor(old.retry_delay_multiplier()));
    let count = |count: Option<u32>| count.map_or("none".to_owned(), |count| count.to_string());
    add("attempts", count(new.max_attempts()), count(old.max_attempts()));
    differences
}
