//! `gax table lint`: what is wrong, useless or unsafe in retry tables.

mod github;
mod json;
mod sarif;
mod text;

use super::source::{Loaded, ProtoFlags, Reading};
use crate::command::print;
use crate::failure::{FINDINGS, Failure};
use clap::{Args, ValueEnum};
use gax_table::lint::{Linter, Target, sibling_drift};
use gax_table::{Dialect, Finding, RetryTable, Severity, TableError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Say what is wrong, useless or unsafe in retry tables
///
/// Every rule has a name; docs/src/lint.md has the reason and the fix for each. With --proto further
/// rules look at the methods that a table is for: names that no proto has, methods that are not safe
/// to call twice, methods that the table leaves out. Several tables are also compared: versions of an
/// API that drift apart.
///
/// The exit status is 1 if a finding is an error, by itself or because it is denied.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct LintArgs {
    /// The retry tables; - is standard input
    #[arg(value_name = "TABLE")]
    tables: Vec<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    protos: ProtoFlags,

    /// Make findings of that rule, or of that severity and above, errors; may be repeated
    #[arg(long, value_name = "RULE", value_parser = rule_or_severity, help_heading = "Rules")]
    deny: Vec<Target>,

    /// Leave findings of that rule or severity out; may be repeated
    #[arg(long, value_name = "RULE", value_parser = rule_or_severity, help_heading = "Rules")]
    allow: Vec<Target>,

    /// How the findings are printed
    #[arg(long, value_enum, default_value_t = LintFormat::Text, help_heading = "Output")]
    format: LintFormat,
}

const EXAMPLES: &str = "\
Examples:
  gax table lint library_grpc_service_config.json
  gax table lint --proto-path protos --proto google/cloud/asset/v1/asset_service.proto \\
                 --deny warning --allow cap-equals-timeout -- cloudasset_grpc_service_config.json

JSON:
  {\"findings\":[{\"rule\":..,\"severity\":\"note\"|\"warning\"|\"error\",\"message\":..,\"help\":..,\"file\":..,
    \"line\":..,\"column\":..,\"end_line\":..,\"end_column\":..},..],\"errors\":..,\"warnings\":..,\"notes\":..}
  null: help where there is none, and the place of a finding that has none.";

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LintFormat {
    /// For people: each finding with its line
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub's workflows
    Github,
}

/// Reads what `--deny` and `--allow` take.
pub(super) fn rule_or_severity(text: &str) -> Result<Target, String> {
    text.parse().map_err(|error: gax_table::lint::UnknownTargetError| match error.suggestion() {
        Some(rule) => format!("is neither a rule nor a severity; did you mean {rule}?"),
        None => "is neither a rule nor a severity; write note, warning, error or a rule of docs/src/lint.md"
            .to_owned(),
    })
}

pub(crate) fn run(args: &LintArgs) -> Result<ExitCode, Failure> {
    let paths = args.protos.tables(&args.tables)?;
    let mut linter = Linter::new();
    if let Some(api) = args.protos.describe()? {
        linter = linter.services(api.services).imported(api.imported);
    }
    linter = args.deny.iter().fold(linter, |linter, target| linter.deny(*target));
    linter = args.allow.iter().fold(linter, |linter, target| linter.allow(*target));
    let files = paths.iter().map(|path| args.reading.load(path)).collect::<Result<Vec<_>, _>>()?;
    let findings = findings(args, &linter, &files);
    let printed = match args.format {
        LintFormat::Text => text::render(&findings, &files),
        LintFormat::Json => json::render(&findings, &files)?,
        LintFormat::Sarif => sarif::render(&findings, &files)?,
        LintFormat::Github => github::render(&findings, &files),
    };
    print(&printed)?;
    let failed = findings.iter().any(|finding| finding.severity() == Severity::Error);
    Ok(if failed { ExitCode::from(FINDINGS) } else { ExitCode::SUCCESS })
}

/// What is said of all files, file by file.
fn findings(args: &LintArgs, linter: &Linter, files: &[Loaded]) -> Vec<Finding> {
    let mut tables = Vec::new();
    let mut findings = Vec::new();
    for file in files {
        match &file.table {
            Ok(table) => {
                findings.extend(linter.run(table));
                tables.push(table.clone());
                if args.reading.dialect() == Dialect::AsWritten && file.text.contains("\"methodConfig\"") {
                    let read = |dialect| args.reading.read(&file.input, dialect);
                    let others = other_readers(read(Dialect::GaxJava), read(Dialect::Grpc));
                    findings.extend(linter.judge(others));
                }
            }
            Err(error) => findings.extend(linter.judge(vec![unreadable(error)])),
        }
    }
    if tables.len() > 1 {
        findings.extend(linter.judge(sibling_drift(&tables)));
    }
    findings
}

/// Where other readers of a service config make nothing of it.
fn other_readers(
    gax_java: Result<RetryTable, TableError>,
    grpc: Result<RetryTable, TableError>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    match gax_java {
        Ok(table) => findings
            .extend(table.findings().iter().filter(|finding| finding.rule() == "dropped-file").cloned()),
        Err(error) => {
            let message = format!("Google's Java generator stops, or its client fails: {}", error.message());
            findings.push(Finding::new("refused-by-gax-java", Severity::Warning, message).for_error(&error));
        }
    }
    if let Err(error) = grpc {
        let message = format!("gRPC itself refuses the whole file: {}", error.message());
        findings.push(Finding::new("refused-by-grpc", Severity::Note, message).for_error(&error));
    }
    findings
}

fn unreadable(error: &TableError) -> Finding {
    Finding::new("unreadable-table", Severity::Error, error.message()).for_error(error)
}

/// A finding at the place of an error.
trait ForError {
    fn for_error(self, error: &TableError) -> Self;
}

impl ForError for Finding {
    fn for_error(self, error: &TableError) -> Self {
        let finding = self.at(error.origin().cloned());
        match error.help() {
            Some(help) => finding.with_help(help),
            None => finding,
        }
    }
}

/// How many findings there are of each severity: errors, warnings, notes.
fn counts(findings: &[Finding]) -> [usize; 3] {
    [Severity::Error, Severity::Warning, Severity::Note]
        .map(|severity| findings.iter().filter(|finding| finding.severity() == severity).count())
}

/// The first and the last place of a finding's text: line and column each, from 1, the last exclusive.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    file: &'a Loaded,
    /// The first line.
    text: &'a str,
    start: (usize, usize),
    end: (usize, usize),
}

fn place<'a>(finding: &Finding, files: &'a [Loaded]) -> Option<Place<'a>> {
    let origin = finding.origin()?;
    let file = files.iter().find(|file| origin.file() == Some(file.input.name.as_str()))?;
    let meant = file.text.get(origin.span()).unwrap_or_default();
    let (line, column) = (origin.line(), origin.column());
    let end = match meant.rsplit_once('\n') {
        Some((before, last)) => (line + before.matches('\n').count() + 1, last.chars().count() + 1),
        None => (line, column + meant.chars().count()),
    };
    let (before, after) = file.text.split_at_checked(origin.span().start)?;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = after.find('\n').map_or(file.text.len(), |newline| before.len() + newline);
    let text = file.text.get(line_start..line_end)?;
    Some(Place { file, text, start: (line, column), end })
}
