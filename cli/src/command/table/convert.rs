//! `gax table convert`: a table in another form.

use super::source::Reading;
use crate::command::print;
use crate::failure::{FINDINGS, Failure};
use clap::Args;
use gax_retry::{ConversionTarget, Severity};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a retry table in another form
///
/// What the other form can't say is told on standard error. The exit status is 1 if it is told as an
/// error.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The retry tables; several are written as one
    #[arg(value_name = "TABLE", required = true)]
    tables: Vec<PathBuf>,

    /// The form: grpc, gapic, client-config, toml, envoy or istio
    #[arg(long, value_name = "FORM", value_parser = target)]
    to: ConversionTarget,

    #[command(flatten)]
    reading: Reading,

    /// The file to write; without it the table goes to standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Make what the other form can't say an error
    #[arg(long, help_heading = "Output")]
    deny_losses: bool,
}

fn target(text: &str) -> Result<ConversionTarget, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = ConversionTarget::ALL.iter().map(|target| target.as_str()).collect();
        format!("is not known; write one of {}", names.join(", "))
    })
}

pub(crate) fn run(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let table = args.reading.merged(&args.tables, None)?;
    let conversion = table.convert(args.to);
    let mut err = anstream::stderr();
    let warnings = table.findings().iter().filter(|finding| finding.severity() >= Severity::Warning);
    for finding in warnings.chain(conversion.findings()) {
        let _unread = writeln!(err, "{finding}");
    }
    match &args.output {
        Some(path) => std::fs::write(path, conversion.text()).map_err(|error| {
            Failure::Usage(format!("--output: can't write {} ({error}); name another file", path.display()))
        })?,
        None => print(conversion.text())?,
    }
    let errors = conversion.findings().iter().any(|finding| finding.severity() == Severity::Error);
    let lost = args.deny_losses && !conversion.findings().is_empty();
    Ok(if errors || lost { ExitCode::from(FINDINGS) } else { ExitCode::SUCCESS })
}
