//! The changes to the files, made or left to be made.

use super::args::GenerateArgs;
use super::directory::{File, State};
use crate::command::{print, print_json};
use crate::failure::Failure;
use crate::render::FindingRow;
use gax_table::Finding;
use gax_text::Escaped;
use serde::Serialize;
use similar::TextDiff;
use std::fmt::Write as _;
use std::path::Path;

#[derive(Debug, Serialize)]
struct Report<'a> {
    files: Vec<FileRow<'a>>,
    up_to_date: bool,
    findings: Vec<FindingRow<'a>>,
}

#[derive(Debug, Serialize)]
struct FileRow<'a> {
    name: &'a str,
    state: &'static str,
    diff: Option<String>,
}

/// One line of JSON about everything.
pub(super) fn json(args: &GenerateArgs, files: &[File], findings: &[Finding]) -> Result<(), Failure> {
    let rows = files.iter().map(|file| FileRow {
        name: &file.name,
        state: file.state.as_str(),
        diff: (args.check && file.state != State::Same).then(|| unified(&args.out, file)),
    });
    print_json(&Report {
        files: rows.collect(),
        up_to_date: files.iter().all(|file| file.state == State::Same),
        findings: findings.iter().map(FindingRow::from).collect(),
    })
}

/// The differences of a check; else a line about each file that was touched, and their number.
pub(super) fn text(args: &GenerateArgs, files: &[File]) -> Result<(), Failure> {
    let mut text = String::new();
    for file in files {
        if args.check {
            text.push_str(&shown(&unified(&args.out, file)));
            continue;
        }
        let done = match file.state {
            State::Same => continue,
            State::Changed | State::Missing => "wrote",
            State::LeftOver => "removed",
        };
        let _infallible = writeln!(text, "{done} {}", Escaped(args.out.join(&file.name).display()));
    }
    let same = files.iter().filter(|file| file.state == State::Same).count();
    if same == files.len() {
        let (s, verb) = if same == 1 { ("", "was") } else { ("s", "were") };
        let _infallible =
            writeln!(text, "{same} file{s} in {} {verb} up to date", Escaped(args.out.display()));
    }
    print(&text)
}

/// A difference as a terminal may have it. Its lines and tabs stay, so that `patch` takes it.
fn shown(difference: &str) -> String {
    let mut text = String::with_capacity(difference.len());
    for part in difference.split_inclusive(['\n', '\t']) {
        let line = part.trim_end_matches(['\n', '\t']);
        let _infallible = write!(text, "{}{}", Escaped(line), part.strip_prefix(line).unwrap_or_default());
    }
    text
}

/// How many files there are in each state that is not up to date: `1 changed, 2 missing`.
pub(super) fn counts(files: &[File]) -> String {
    let of = |state| match files.iter().filter(|file| file.state == state).count() {
        0 => None,
        count => Some(format!("{count} {state}")),
    };
    let counts: Vec<String> =
        [State::Changed, State::Missing, State::LeftOver].into_iter().filter_map(of).collect();
    counts.join(", ")
}

/// The lines around a change.
const CONTEXT: usize = 3;

/// The difference, in the form that `patch` takes; empty for a file that is up to date.
pub(super) fn unified(directory: &Path, file: &File) -> String {
    const NOWHERE: &str = "/dev/null";
    let path = directory.join(&file.name).display().to_string().replace('\\', "/");
    let (old_path, new_path) = match file.state {
        State::Same => return String::new(),
        State::Changed => (path.as_str(), path.as_str()),
        State::Missing => (NOWHERE, path.as_str()),
        State::LeftOver => (path.as_str(), NOWHERE),
    };
    let old = String::from_utf8_lossy(&file.old);
    let diff = TextDiff::from_lines(old.as_ref(), &file.new);
    diff.unified_diff().context_radius(CONTEXT).header(old_path, new_path).to_string()
}
