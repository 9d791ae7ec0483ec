//! Findings for people, each with its line, in the manner of rustc.

use super::{Place, counts, place};
use crate::command::table::source::Loaded;
use crate::render::{DIM, HEAD, of_severity};
use gax_retry::Finding;
use std::fmt::Write as _;

/// The longest part of a line that is shown.
const LONGEST_LINE: usize = 160;

pub(super) fn render(findings: &[Finding], files: &[Loaded]) -> String {
    let mut text = String::new();
    for finding in findings {
        let style = of_severity(finding.severity());
        let _infallible = writeln!(
            text,
            "{style}{}[{}]{style:#}{HEAD}: {}{HEAD:#}",
            finding.severity(),
            finding.rule(),
            finding.message()
        );
        let mut gutter = 1;
        if let Some(place) = place(finding, files) {
            gutter = excerpt(&mut text, finding, place);
        }
        if let Some(help) = finding.help() {
            let _infallible = writeln!(text, "{:gutter$} {DIM}={DIM:#} help: {help}", "");
        }
        text.push('\n');
    }
    text.push_str(&summary(findings, files.len()));
    text
}

/// The line that is meant, with carets under what is meant in it. Returns the width of line numbers.
fn excerpt(text: &mut String, finding: &Finding, place: Place<'_>) -> usize {
    let (line, column) = place.start;
    let gutter = line.to_string().len();
    let style = of_severity(finding.severity());
    let shown: String =
        place.text.chars().take(LONGEST_LINE).map(|c| if c == '\t' { ' ' } else { c }).collect();
    let length = shown.trim_end().chars().count();
    let last = if place.end.0 == line { place.end.1 } else { length + 1 };
    let width = last.min(length + 1).saturating_sub(column).max(1);
    let before = column - 1;
    let _infallible =
        writeln!(text, "{:gutter$}{DIM}-->{DIM:#} {}:{line}:{column}", "", place.file.input.name);
    let _infallible = writeln!(text, "{:gutter$} {DIM}|{DIM:#}", "");
    let _infallible = writeln!(text, "{DIM}{line} |{DIM:#} {}", shown.trim_end());
    if before < LONGEST_LINE {
        let carets = "^".repeat(width);
        let _infallible =
            writeln!(text, "{:gutter$} {DIM}|{DIM:#} {:before$}{style}{carets}{style:#}", "", "");
    }
    gutter
}

fn summary(findings: &[Finding], files: usize) -> String {
    let several = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let [errors, warnings, notes] = counts(findings);
    format!(
        "{}, {}, {} in {}\n",
        several(errors, "error"),
        several(warnings, "warning"),
        several(notes, "note"),
        several(files, "table")
    )
}
