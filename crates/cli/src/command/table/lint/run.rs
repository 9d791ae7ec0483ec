//! From the flags to the exit status.

use super::args::{LintArgs, LintFormat};
use super::baseline::Baseline;
use super::check::check;
use super::inputs::Inputs;
use super::place::Files;
use super::report::Report;
use super::{json, notices, text};
use crate::command::{print, print_json, report, stream};
use crate::failure::{BAD_USE, FINDINGS, Failure};
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
    let inputs = Inputs::read(&paths, &args.reading);
    for problem in &inputs.problems {
        report(problem);
    }
    if inputs.files.is_empty() && !inputs.problems.is_empty() {
        return Ok(ExitCode::from(BAD_USE));
    }
    let checked = check(&inputs, &linter, knows_services, !args.with.with.is_empty(), &args.client)?;
    let status = |has_errors: bool| match (inputs.problems.is_empty(), has_errors) {
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
        files: Files::new(&inputs.files),
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
