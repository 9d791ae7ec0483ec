//! Standard output, and standard error for what kept a command from its work.

use crate::failure::Failure;
use crate::render::{ERROR, write_json};
use clap::ValueEnum;
use gax_table::{Finding, Severity};
use serde_json::ser::{CompactFormatter, PrettyFormatter};
use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

/// How much output is gathered before it is written.
const BUFFER: usize = 64 * 1024;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Prints text, whose styles are dropped where standard output is not a terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    stream(|out| Ok(out.write_all(text.as_bytes())?))
}

/// Prints what is written, as it comes. A reader that goes away is no failure: what the command has decided by then,
/// or decides afterwards, is its exit status.
pub(crate) fn stream(write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(BUFFER, anstream::stdout().lock());
    match write(&mut out).and_then(|()| Ok(out.flush()?)) {
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Prints data as one line of JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    stream(|out| Ok(write_json(out, value, CompactFormatter)?))
}

/// Prints data as JSON in many lines.
pub(crate) fn print_pretty_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    stream(|out| Ok(write_json(out, value, PrettyFormatter::new())?))
}

/// Data as JSON in many lines.
pub(crate) fn pretty_json(value: &impl serde::Serialize) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    write_json(&mut text, value, PrettyFormatter::new())?;
    Ok(text)
}

/// Prints findings about tables to standard error, mere notes left out, a line each; the command continues.
pub(crate) fn warn<'a>(findings: impl IntoIterator<Item = &'a Finding>) {
    let mut err = BufWriter::new(anstream::stderr().lock());
    for finding in findings.into_iter().filter(|finding| finding.severity() >= Severity::Warning) {
        let _unread = writeln!(err, "{finding}");
    }
}

/// Prints why a command did not do its work, if anyone is there to read it; returns the exit status.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    if let Failure::Shown(text) = failure {
        let printed = print(&text.to_string());
        return printed.map_or_else(|failure| report(&failure), |()| failure.status());
    }
    let _unread = writeln!(anstream::stderr(), "{ERROR}error:{ERROR:#} {failure}");
    failure.status()
}
