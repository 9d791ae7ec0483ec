//! Findings for people, each with its line, in the manner of rustc.

use super::{Place, counts, place};
use crate::command::table::source::Loaded;
use crate::render::{DIM, HEAD, of_severity};
use gax_retry::__private::Escaped;
use gax_table::Finding;
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
            Escaped(finding.message())
        );
        let mut gutter = 1;
        if let Some(place) = place(finding, files) {
            gutter = excerpt(&mut text, finding, place);
        }
        if let Some(help) = finding.help() {
            let _infallible = writeln!(text, "{:gutter$} {DIM}={DIM:#} help: {}", "", Escaped(help));
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
    let length = place.text.trim_end().chars().count().min(LONGEST_LINE);
    // The end of what is meant, at least a character after its start.
    let end = if place.end.0 == line { place.end.1 } else { usize::MAX }.min(length + 1).max(column + 1);
    let before = shown(place.text.chars().take(column - 1));
    let meant = shown(place.text.chars().take(end - 1).skip(column - 1));
    let file = Escaped(&place.file.input.name);
    let _infallible = writeln!(text, "{:gutter$}{DIM}-->{DIM:#} {file}:{line}:{column}", "");
    let _infallible = writeln!(text, "{:gutter$} {DIM}|{DIM:#}", "");
    let _infallible = writeln!(text, "{DIM}{line} |{DIM:#} {}", shown(place.text.chars().take(length)));
    if column <= LONGEST_LINE {
        let (before, meant) = (before.chars().count(), meant.chars().count().max(1));
        let carets = "^".repeat(meant);
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

/// A part of a line; a tab is one space wide.
fn shown(characters: impl Iterator<Item = char>) -> String {
    let text: String = characters.map(|c| if c == '\t' { ' ' } else { c }).collect();
    Escaped(text).to_string()
}
