//! Versions of an API whose tables drift apart.

use crate::lint::rule::declare;
use crate::lint::version::{is_version, without_version};
use crate::{Finding, MethodPolicy, RetryTable, SourceLocation};
use std::collections::{BTreeMap, BTreeSet, HashMap};

declare! {
    SIBLING_DRIFT: "sibling-drift", Note, Siblings,
        "the same method has different codes or limits in another version of its API",
        "Give both versions the same values, or ignore the finding in gax.toml with the reason.";
}

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
/// assert_eq!(findings[0].message(), "a.v2.B/Get has different settings from a.v1.B/Get: total timeout 9s, not 5s");
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[must_use]
pub fn sibling_drift(tables: &[RetryTable]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, api) in apis(tables).into_iter().filter(|(_, api)| api.versions.len() > 1) {
        for method in &api.methods {
            findings.extend(drift(&api, method));
        }
    }
    findings
}

/// The versions of a service, and what their tables name.
#[derive(Default)]
struct Api<'a> {
    versions: Vec<(&'a str, &'a RetryTable)>,
    methods: BTreeSet<&'a str>,
    /// The first place of each method of each version.
    places: HashMap<(&'a str, &'a str), Option<&'a SourceLocation>>,
}

/// Per name without versions what the tables say.
fn apis(tables: &[RetryTable]) -> BTreeMap<String, Api<'_>> {
    let mut apis: BTreeMap<String, Api<'_>> = BTreeMap::new();
    for table in tables {
        let mut seen = BTreeSet::new();
        for name in table.names() {
            let service = name.service();
            let is_new = seen.insert(service);
            if !service.split('.').any(is_version) {
                // It may be the same API, but is no version of it: only its methods count.
                if let (Some(api), Some(method)) = (apis.get_mut(service), name.method()) {
                    api.methods.insert(method);
                }
                continue;
            }
            let api = apis.entry(without_version(service)).or_default();
            if is_new {
                api.versions.push((service, table));
            }
            if let Some(method) = name.method() {
                api.methods.insert(method);
                api.places.entry((service, method)).or_insert(name.origin());
            }
        }
    }
    // As the tables came, and in each by name.
    for api in apis.values_mut() {
        api.versions.sort_by_key(|(service, table)| {
            (tables.iter().position(|other| std::ptr::eq(other, *table)), *service)
        });
    }
    apis
}

/// How one method differs from the first version that has an entry for it.
fn drift(api: &Api<'_>, method: &str) -> Vec<Finding> {
    let mut first: Option<(&str, MethodPolicy<'_>)> = None;
    let mut findings = Vec::new();
    for (service, table) in &api.versions {
        let Some(policy) = table.lookup(service, method) else { continue };
        let Some((other, known)) = first else {
            first = Some((service, policy));
            continue;
        };
        let differences = differences(known, policy);
        if !differences.is_empty() && other != *service {
            let message = format!(
                "{service}/{method} has different settings from {other}/{method}: {}",
                differences.join(", ")
            );
            let own = api.places.get(&(*service, method)).copied().flatten();
            let origin = own.or(policy.origin());
            let finding = Finding::new(SIBLING_DRIFT.id(), SIBLING_DRIFT.severity(), message);
            let help = "give both the same values, or say in gax.toml why they differ";
            let finding = finding.with_help(help).about(format!("{service}/{method}"));
            findings.push(finding.at(origin.cloned()));
        }
    }
    findings
}

fn differences(known: MethodPolicy<'_>, policy: MethodPolicy<'_>) -> Vec<String> {
    let none = || "none".to_owned();
    let time = |time: Option<std::time::Duration>| time.map_or_else(none, |time| format!("{time:?}"));
    let facts = |policy: MethodPolicy<'_>| {
        let (codes, settings) = (policy.codes(), policy.settings());
        [
            ("codes", if codes.is_empty() { none() } else { codes.to_string() }),
            ("total timeout", time(settings.total_timeout())),
            ("first delay", time(settings.initial_retry_delay())),
            ("longest delay", time(settings.max_retry_delay())),
            ("multiplier", settings.retry_delay_multiplier().map_or_else(none, |factor| factor.to_string())),
            ("attempts", settings.max_attempts().map_or_else(none, |count| count.to_string())),
        ]
    };
    let pairs = facts(policy).into_iter().zip(facts(known)).filter(|(new, old)| new != old);
    pairs.map(|((what, new), (_, old))| format!("{what} {new}, not {old}")).collect()
}
