//! Findings for programs.

use super::report::Report;
use crate::render::FindingRow;
use serde::{Serialize, Serializer};

#[derive(Debug, Serialize)]
pub(super) struct Log<'a> {
    findings: Rows<'a>,
    errors: usize,
    warnings: usize,
    notes: usize,
    ignored: usize,
    known: usize,
}

/// The findings, each of which is made when it is written.
#[derive(Debug)]
struct Rows<'a>(&'a Report<'a>);

#[derive(Debug, Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    finding: FindingRow<'a>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    name: Option<&'a str>,
}

impl<'a> From<&'a Report<'a>> for Log<'a> {
    fn from(report: &'a Report<'a>) -> Self {
        let [errors, warnings, notes] = report.counts();
        Self { findings: Rows(report), errors, warnings, notes, ignored: report.ignored, known: report.known }
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.printed().map(|finding| {
            let place = self.0.files.place(finding);
            Row {
                finding: finding.into(),
                end_line: place.map(|place| place.end.0),
                end_column: place.map(|place| place.end.1),
                name: finding.name(),
            }
        }))
    }
}
