//! Findings as SARIF 2.1.0, which code scanning services read.

use super::place;
use crate::command::pretty_json;
use crate::command::table::source::Loaded;
use crate::failure::Failure;
use gax_table::lint::{Rule, rules};
use gax_table::{Finding, Severity};
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn render(findings: &[Finding], files: &[Loaded]) -> Result<String, Failure> {
    let used: Vec<&Rule> =
        rules().filter(|rule| findings.iter().any(|finding| finding.rule() == rule.id())).collect();
    let described: Vec<Value> = used
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id(),
                "shortDescription": { "text": rule.summary() },
                "defaultConfiguration": { "level": level(rule.severity()) },
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(|finding| result(finding, files, &used)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "gax table lint",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": described,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    pretty_json(&log)
}

fn result(finding: &Finding, files: &[Loaded], used: &[&Rule]) -> Value {
    let text = match finding.help() {
        Some(help) => format!("{}; {help}", finding.message()),
        None => finding.message().to_owned(),
    };
    let location = place(finding, files).map(|place| {
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": place.file.input.name.replace('\\', "/") },
            "region": {
                "startLine": place.start.0,
                "startColumn": place.start.1,
                "endLine": place.end.0,
                "endColumn": place.end.1,
            },
        } })
    });
    json!({
        "ruleId": finding.rule(),
        "ruleIndex": used.iter().position(|rule| rule.id() == finding.rule()),
        "level": level(finding.severity()),
        "message": { "text": text },
        "locations": location.into_iter().collect::<Vec<_>>(),
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "note",
    }
}
