//! From the flags to the exit status.

use super::args::{LintArgs, LintFormat};
use super::baseline::Baseline;
use super::check::check;
use super::place::Files;
use super::report::Report;
use super::{json, notices, text};
use crate::command::{print, print_json, report, stream};
use crate::failure::{BAD_USE, FINDINGS, Failure};
use crate::input::Input;
use gax_table::Severity;
use gax_table::lint::Linter;
use std::process::ExitCode;

pub(crate) fn run(args: &LintArgs) -> Result<ExitCode, Failure> {
    let mut paths = args.protos.tables(&args.tables)?;
    paths.extend(args.with.with.iter().cloned());
    let mut linter = Linter::new();
    let api = args.protos.describe()?;
    let knows_services = api.is_some();
    if let Some(api) = api {
        linter = linter.services(api.services).imported(api.imported);
    }
    linter = args.deny.iter().fold(linter, |linter, target| linter.deny(*target));
    linter = args.allow.iter().fold(linter, |linter, target| linter.allow(*target));
    linter = args.max_load.into_iter().fold(linter, Linter::max_load);
    let (mut files, mut are_all_read) = (Vec::new(), true);
    for table in Input::tables_and_problems(&paths) {
        match table {
            Ok(input) => files.push(args.reading.loaded(input)),
            Err(problem) => {
                report(&problem);
                are_all_read = false;
            }
        }
    }
    if files.is_empty() && !are_all_read {
        return Ok(ExitCode::from(BAD_USE));
    }
    let checked = check(&files, &linter, knows_services, !args.with.with.is_empty(), &args.client)?;
    let status = |has_errors: bool| match (are_all_read, has_errors) {
        (false, _) => ExitCode::from(BAD_USE),
        (true, true) => ExitCode::from(FINDINGS),
        (true, false) => ExitCode::SUCCESS,
    };
    if let Some(path) = &args.write_baseline {
        Baseline::write(&checked.findings, path)?;
        print(&format!("{} findings are written to {}\n", checked.findings.len(), path.display()))?;
        return Ok(status(false));
    }
    let (findings, known, gone) = match &args.baseline {
        Some(path) => Baseline::read(path)?.split(checked.findings, path),
        None => (checked.findings, 0, 0),
    };
    let report = Report {
        findings: &findings,
        files: Files::new(&files),
        ignored: checked.ignored,
        known,
        gone,
        is_quiet: args.quiet,
    };
    match args.format {
        LintFormat::Text => stream(|out| Ok(text::render(&report, out)?))?,
        LintFormat::Json => print_json(&json::Log::from(&report))?,
        LintFormat::Sarif => notices::sarif(&report)?,
        LintFormat::Github => notices::github(&report)?,
    }
    Ok(status(findings.iter().any(|finding| finding.severity() == Severity::Error)))
}
