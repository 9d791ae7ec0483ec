//! Tables made of entries, and their findings.

use crate::lint::Linter;
use crate::{Finding, MethodDescription, RetryTable, ServiceDescription};
use gax_retry::MethodKind;

/// A table of entries, each given without its braces.
pub(super) fn table(entries: &[&str]) -> RetryTable {
    let entries: Vec<String> = entries.iter().map(|entry| format!("{{{entry}}}")).collect();
    let text = format!("{{\"methodConfig\": [{}]}}", entries.join(",\n"));
    RetryTable::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A name with a method, or without one if it is empty.
pub(super) fn name(service: &str, method: &str) -> String {
    if method.is_empty() {
        format!(r#"{{"service": "{service}"}}"#)
    } else {
        format!(r#"{{"service": "{service}", "method": "{method}"}}"#)
    }
}

/// An entry with a retry policy that nothing is wrong with but for what the arguments say.
pub(super) fn policy(
    names: &[String],
    timeout: &str,
    initial: &str,
    max: &str,
    multiplier: f64,
    codes: &str,
) -> String {
    format!(
        r#""name": [{}], "timeout": "{timeout}", "retryPolicy": {{"maxAttempts": 5, "initialBackoff": "{initial}",
        "maxBackoff": "{max}", "backoffMultiplier": {multiplier:?}, "retryableStatusCodes": [{codes}]}}"#,
        names.join(", ")
    )
}

/// A retry policy that nothing is wrong with.
pub(super) fn sound(names: &[String]) -> String {
    policy(names, "60s", "1s", "10s", 1.3, r#""UNAVAILABLE""#)
}

pub(super) fn timeout_only(names: &[String], timeout: &str) -> String {
    format!(r#""name": [{}], "timeout": "{timeout}""#, names.join(", "))
}

pub(super) fn rules(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(Finding::rule).collect()
}

/// The findings about a table that is for these services.
pub(super) fn findings(table: &RetryTable, services: &[ServiceDescription]) -> Vec<Finding> {
    Linter::new().services(services.to_vec()).run(table)
}

pub(super) fn service(name: &str, methods: &[&str]) -> ServiceDescription {
    methods.iter().fold(ServiceDescription::new(name), |service, method| {
        service.with_method(MethodDescription::new(*method, MethodKind::Unary))
    })
}
