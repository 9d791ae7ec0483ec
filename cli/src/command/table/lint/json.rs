//! Findings for programs.

use super::{counts, place};
use crate::command::json;
use crate::command::table::source::Loaded;
use crate::failure::Failure;
use crate::render::FindingRow;
use gax_table::Finding;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Report<'a> {
    findings: Vec<Row<'a>>,
    errors: usize,
    warnings: usize,
    notes: usize,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    finding: FindingRow<'a>,
    end_line: Option<usize>,
    end_column: Option<usize>,
}

pub(super) fn render(findings: &[Finding], files: &[Loaded]) -> Result<String, Failure> {
    let [errors, warnings, notes] = counts(findings);
    let findings = findings.iter().map(|finding| {
        let place = place(finding, files);
        Row {
            finding: finding.into(),
            end_line: place.map(|place| place.end.0),
            end_column: place.map(|place| place.end.1),
        }
    });
    let report = Report { findings: findings.collect(), errors, warnings, notes };
    json(&report)
}
