//! Findings as SARIF 2.1.0, which code scanning services read.

use super::report::Report;
use crate::command::pretty_json;
use crate::failure::Failure;
use gax_table::lint::{Rule, rules};
use gax_table::{Finding, Severity};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Where each rule has its section.
const PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/src/lint.md");

pub(super) fn render(report: &Report<'_>) -> Result<String, Failure> {
    let ids: HashSet<&str> = report.printed().map(Finding::rule).collect();
    let used: Vec<&Rule> = rules().filter(|rule| ids.contains(rule.id())).collect();
    let numbers = used.iter().enumerate().map(|(number, rule)| (rule.id(), number)).collect();
    let results: Vec<Value> = report.printed().map(|finding| result(finding, report, &numbers)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "gax table lint",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": used.into_iter().map(described).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    pretty_json(&log)
}

fn described(rule: &Rule) -> Value {
    let page = format!("{PAGE}#{}", rule.id());
    json!({
        "id": rule.id(),
        "shortDescription": { "text": rule.summary() },
        "help": {
            "text": format!("{} See {page}", rule.advice()),
            "markdown": format!("{} See [{}]({page}).", rule.advice(), rule.id()),
        },
        "helpUri": page,
        "defaultConfiguration": { "level": level(rule.severity()) },
    })
}

fn result(finding: &Finding, report: &Report<'_>, numbers: &HashMap<&str, usize>) -> Value {
    let text = match finding.help() {
        Some(help) => format!("{}; {help}", finding.message()),
        None => finding.message().to_owned(),
    };
    let place = report.files.place(finding).filter(|place| place.file.input.name != "<stdin>");
    let mut location = serde_json::Map::new();
    if let Some(place) = place {
        let physical = json!({
            "artifactLocation": { "uri": uri(&place.file.input.name) },
            "region": {
                "startLine": place.start.0,
                "startColumn": place.start.1,
                "endLine": place.end.0,
                "endColumn": place.end.1,
            },
        });
        location.insert("physicalLocation".to_owned(), physical);
    }
    if let Some(name) = finding.name() {
        location.insert("logicalLocations".to_owned(), json!([{ "fullyQualifiedName": name }]));
    }
    let locations = if location.is_empty() { Vec::new() } else { vec![Value::Object(location)] };
    json!({
        "ruleId": finding.rule(),
        "ruleIndex": numbers.get(finding.rule()),
        "level": level(finding.severity()),
        "message": { "text": text },
        "locations": locations,
    })
}

/// A path as a URI: what is neither a letter, a digit nor one of `-._~/` is written with a percent sign.
fn uri(path: &str) -> String {
    let start = if Path::new(path).is_absolute() { "file://" } else { "" };
    let mut uri = start.to_owned();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _infallible = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "note",
    }
}
