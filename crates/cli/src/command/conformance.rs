//! `gax conformance`: recorded cases, run through the engine.

use crate::command::{Format, print, print_json};
use crate::conformance::{CaseFailure, CategoryCounts, Summary};
use crate::failure::{FINDINGS, Failure, usage};
use crate::input::Input;
use crate::render::{Align, Cell, Grid, table};
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check this implementation against recorded cases of gax-java, or a client against gRPC's texts
///
/// A case is a line of JSON: retry settings, what the server did, and the attempts that gax-java made.
/// Each case is run by the rules of --compat gax-java, and every number is compared. A case of an
/// unknown kind, or with an unknown field, is treated as failed. The exit status is 1 if a case failed, 2 if a
/// file has no cases.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(crate) struct ConformanceArgs {
    /// Files with one case per line; - is standard input
    #[arg(required_unless_present = "clients", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Instead, check a gRPC client against the cases in this folder: what gRPC's texts say of retries
    #[arg(long, value_name = "SUITE", conflicts_with = "files", requires = "command")]
    clients: Option<PathBuf>,

    /// A command that makes one call, without a deadline of its own: {target}, {config} (a file with the service config) and {method}
    /// are replaced
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const JSON: &str = "\
JSON:
  {\"passed\":..,\"failed\":..,\"unreadable\":..,\"compared\":..,\"traced\":..,
    \"categories\":[{\"kind\":..,\"category\":..,\"passed\":..,\"failed\":..,\"unreadable\":..,
      \"compared\":..,\"traced\":..},..],
    \"failures\":[{\"id\":..,\"kind\":..,\"category\":..,\"line\":..,\"place\":..,\"expected\":..,
      \"got\":..,\"message\":..},..]}
  unreadable: failed cases that could not be run. compared: recorded outcomes, of which a case can
  have two. traced: those of them whose tracer calls were compared with what observers get.";

/// The most failures that text lists; JSON has them all.
const MOST: usize = 50;

pub(crate) fn run(args: &ConformanceArgs) -> Result<ExitCode, Failure> {
    if let Some(suite) = &args.clients {
        return super::suite::run(suite, &args.command, args.format);
    }
    let mut summary = Summary::default();
    for file in &args.files {
        let input = Input::read(file, "a file of recorded cases")?;
        summary
            .run_file(&input.name, &input.content)
            .map_err(|error| usage!("{error}; give files of the form that gax conformance --help shows"))?;
    }
    match args.format {
        Format::Text => print(&Text(&summary).to_string())?,
        Format::Json => print_json(&Report::of(&summary))?,
    }
    Ok(if summary.is_success() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
}

/// The summary as people read it.
struct Text<'a>(&'a Summary);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(summary) = self;
        let mut counted = Grid::new([
            ("kind", Align::Left),
            ("category", Align::Left),
            ("passed", Align::Right),
            ("failed", Align::Right),
        ]);
        for ((kind, category), counts) in summary.categories() {
            counted.push([
                Cell::from(kind),
                Cell::from(category),
                Cell::from(counts.passed),
                Cell::from(counts.failed),
            ]);
        }
        writeln!(f, "{}", table(&counted, 0))?;
        for failure in summary.failures.iter().take(MOST) {
            writeln!(f, "{failure}")?;
        }
        if let more @ 1.. = summary.failures.len().saturating_sub(MOST) {
            writeln!(f, "and {more} more; --format json lists them all")?;
        }
        if !summary.failures.is_empty() {
            writeln!(f)?;
        }
        let CategoryCounts { passed, failed, unreadable, compared, traced } = summary.total();
        writeln!(f, "{passed} cases passed, {failed} failed; {compared} recorded outcomes compared.")?;
        if unreadable > 0 {
            writeln!(f, "{unreadable} of the failed cases could not be run.")?;
        }
        if traced > 0 {
            writeln!(f, "The tracer calls of {traced} outcomes were compared too.")?;
        }
        let mut kinds: Vec<&str> = summary.categories().map(|((kind, _), _)| kind).collect();
        kinds.dedup();
        for note in kinds.into_iter().filter_map(what_a_client_runs) {
            writeln!(f, "{note}")?;
        }
        Ok(())
    }
}

/// Which cases of a kind a program can meet. The command runs all of them through the same operation; tests run these through clients.
fn what_a_client_runs(kind: &str) -> Option<&'static str> {
    match kind {
        "unary" => Some(
            "unary: clients make these calls, except with settings that they reject: negative durations, multipliers \
             that are not finite, codes without a limit.",
        ),
        "streaming" => {
            Some("streaming: clients make these calls, with a resumption if the stream was resumed.")
        }
        "poll" => Some(
            "poll: generated clients poll long-running operations like this, except with settings that they reject: \
             polling without a limit, negative durations.",
        ),
        _ => None,
    }
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    total: CategoryCounts,
    categories: Vec<CategoryCount<'a>>,
    failures: &'a [CaseFailure],
}

#[derive(Serialize)]
struct CategoryCount<'a> {
    kind: &'a str,
    #[serde(rename = "category")]
    name: &'a str,
    #[serde(flatten)]
    counts: CategoryCounts,
}

impl<'a> Report<'a> {
    fn of(summary: &'a Summary) -> Self {
        let categories =
            summary.categories().map(|((kind, name), counts)| CategoryCount { kind, name, counts });
        Self { total: summary.total(), categories: categories.collect(), failures: &summary.failures }
    }
}
