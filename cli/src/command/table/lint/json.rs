//! Findings for programs.

use super::report::Report;
use crate::command::json;
use crate::failure::Failure;
use crate::render::FindingRow;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Log<'a> {
    findings: Vec<Row<'a>>,
    errors: usize,
    warnings: usize,
    notes: usize,
    ignored: usize,
    known: usize,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    finding: FindingRow<'a>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    name: Option<&'a str>,
}

pub(super) fn render(report: &Report<'_>) -> Result<String, Failure> {
    let [errors, warnings, notes] = report.counts();
    let findings = report.printed().map(|finding| {
        let place = report.files.place(finding);
        Row {
            finding: finding.into(),
            end_line: place.map(|place| place.end.0),
            end_column: place.map(|place| place.end.1),
            name: finding.name(),
        }
    });
    let findings = findings.collect();
    json(&Log { findings, errors, warnings, notes, ignored: report.ignored, known: report.known })
}
