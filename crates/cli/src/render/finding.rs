//! Findings for programs.

use gax_table::{Finding, SourceLocation};
use serde::Serialize;

/// A finding as JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct FindingRow<'a> {
    rule: &'a str,
    severity: String,
    message: &'a str,
    help: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

impl<'a> From<&'a Finding> for FindingRow<'a> {
    fn from(finding: &'a Finding) -> Self {
        let origin = finding.origin();
        Self {
            rule: finding.rule(),
            severity: finding.severity().to_string(),
            message: finding.message(),
            help: finding.help(),
            file: origin.and_then(SourceLocation::file),
            line: origin.map(SourceLocation::line),
            column: origin.map(SourceLocation::column),
        }
    }
}
