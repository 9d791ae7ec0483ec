//! Findings for people, each with its line, in the manner of rustc.

use super::place::Place;
use super::report::Report;
use crate::render::{DIM, HEAD, grouped, of_severity};
use gax_table::{Finding, Severity};
use gax_text::Escaped;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The longest part of a line that is shown.
const MAX_LINE: usize = 160;
/// How much of a line that is cut there is before what is meant, and has to be behind it.
const BEFORE: usize = 40;
const AFTER: usize = 40;
/// Where a line is cut.
const CUT: &str = "..";
/// How many further places of a finding are listed.
const MAX_PLACES: usize = 12;

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let keyed = report.printed().map(|finding| {
        let file = finding.origin().map(|origin| origin.file());
        ((file, finding.rule(), finding.severity(), finding.message(), finding.help()), finding)
    });
    for (_, group) in grouped(keyed) {
        let Some((finding, others)) = group.split_first() else { continue };
        let style = of_severity(finding.severity());
        writeln!(
            out,
            "{style}{}[{}]{style:#}{HEAD}: {}{HEAD:#}",
            finding.severity(),
            finding.rule(),
            Escaped(finding.message())
        )?;
        let mut gutter = 1;
        if let Some(place) = report.files.place(finding) {
            gutter = excerpt(out, finding, place)?;
        }
        if !others.is_empty() {
            writeln!(out, "{:gutter$} {DIM}={DIM:#} also: {}", "", lines(others))?;
        }
        if let Some(help) = finding.help() {
            writeln!(out, "{:gutter$} {DIM}={DIM:#} help: {}", "", Escaped(help))?;
        }
        writeln!(out)?;
    }
    if !report.is_quiet {
        summary(out, report)?;
    }
    Ok(())
}

/// `lines 102, 119 and 9 more`
fn lines(findings: &[&Finding]) -> String {
    let lines =
        findings.iter().filter_map(|finding| finding.origin()).map(|origin| origin.line().to_string());
    let listed: Vec<String> = lines.take(MAX_PLACES).collect();
    let more = findings.len() - listed.len();
    let what = if findings.len() == 1 { "line" } else { "lines" };
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{what} {}{more}", listed.join(", "))
}

/// The line that is meant, with carets under what is meant in it. Returns the width of line numbers.
fn excerpt(out: &mut dyn Write, finding: &Finding, place: Place<'_>) -> io::Result<usize> {
    let line = place.start.0;
    let (column, end) = place.columns();
    let gutter = line.to_string().len();
    let style = of_severity(finding.severity());
    let file = Escaped(place.file);
    writeln!(out, "{:gutter$}{DIM}-->{DIM:#} {file}:{line}:{column}", "")?;
    writeln!(out, "{:gutter$} {DIM}|{DIM:#}", "")?;
    // A line may be a whole file: of a long one the part around what is meant is shown.
    let skipped = if column + AFTER > MAX_LINE { column - 1 - BEFORE } else { 0 };
    let part: Vec<char> = place.text.chars().skip(skipped).take(MAX_LINE).collect();
    let is_cut = place.text.chars().nth(skipped + MAX_LINE).is_some();
    let spaces = part.iter().rev().take_while(|letter| !is_cut && letter.is_whitespace()).count();
    let length = part.len() - spaces;
    let text = |from: usize, to: usize| shown(part.iter().skip(from).take(to.saturating_sub(from)).copied());
    let (head, tail) = (if skipped > 0 { CUT } else { "" }, if is_cut { CUT } else { "" });
    writeln!(out, "{DIM}{line} |{DIM:#} {head}{}{tail}", text(0, length))?;
    // The marked characters of that part: at least one.
    let start = column - 1 - skipped;
    let end = end.saturating_sub(1 + skipped).min(length).max(start + 1);
    let before = head.len() + text(0, start).chars().count();
    let carets = "^".repeat(text(start, end).chars().count().max(1));
    writeln!(out, "{:gutter$} {DIM}|{DIM:#} {:before$}{style}{carets}{style:#}", "", "")?;
    Ok(gutter)
}

/// How often each rule has found something, the most frequent first, and how much that is in all.
fn summary(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let mut counts: BTreeMap<(&str, Severity), usize> = BTreeMap::new();
    for finding in report.findings {
        *counts.entry((finding.rule(), finding.severity())).or_default() += 1;
    }
    if counts.len() > 1 {
        let mut rows: Vec<_> = counts.into_iter().collect();
        rows.sort_by_key(|((rule, severity), count)| (std::cmp::Reverse((*severity, *count)), *rule));
        let width = rows.iter().map(|(_, count)| count.to_string().len()).max().unwrap_or_default();
        for ((rule, severity), count) in rows {
            let style = of_severity(severity);
            writeln!(out, "{count:>width$} {style}{severity}[{rule}]{style:#}")?;
        }
        writeln!(out)?;
    }
    let several = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let [errors, warnings, notes] = report.counts();
    write!(
        out,
        "{}, {}, {} in {}",
        several(errors, "error"),
        several(warnings, "warning"),
        several(notes, "note"),
        several(report.files.by_name.len(), "table")
    )?;
    for (count, what) in [
        (report.ignored, "ignored by gax.toml"),
        (report.known, "known by the baseline"),
        (report.gone, "of the baseline no longer exist: write it again"),
    ] {
        if count > 0 {
            write!(out, "; {count} {what}")?;
        }
    }
    writeln!(out)
}

/// A part of a line; a tab is one space wide.
fn shown(characters: impl Iterator<Item = char>) -> String {
    let text: String = characters.map(|c| if c == '\t' { ' ' } else { c }).collect();
    Escaped(text).to_string()
}
