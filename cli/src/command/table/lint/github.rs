//! Findings as annotations that GitHub shows beside the lines of a change.

use super::report::Report;
use gax_retry::__private::Escaped;
use gax_table::Severity;
use std::fmt::Write as _;

pub(super) fn render(report: &Report<'_>) -> String {
    let mut text = String::new();
    for finding in report.printed() {
        let command = match finding.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            _ => "notice",
        };
        let mut properties = Vec::new();
        if let Some(place) = report.files.place(finding) {
            properties.push(format!("file={}", property(&place.file.input.name)));
            properties.push(format!("line={}", place.start.0));
            properties.push(format!("endLine={}", place.end.0));
            if place.start.0 == place.end.0 {
                properties.push(format!("col={}", place.start.1));
                properties.push(format!("endColumn={}", place.end.1));
            }
        }
        properties.push(format!("title={}", property(finding.rule())));
        let message = match finding.help() {
            Some(help) => format!("{}; {help}", finding.message()),
            None => finding.message().to_owned(),
        };
        let _infallible = writeln!(text, "::{command} {}::{}", properties.join(","), data(&message));
    }
    text
}

/// A text as the value of a command.
fn data(text: &str) -> String {
    Escaped(text).to_string().replace('%', "%25")
}

/// A text as the value of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
