//! `gax table convert`: a table in another form.

use super::lint::rule_or_severity;
use super::source::{ProtoFlags, Reading};
use crate::command::stream;
use crate::failure::{Failure, usage};
use crate::input::Input;
use clap::Args;
use gax_table::lint::{Linter, Target};
use gax_table::{ConversionTarget, Finding, RetryTable, Severity};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Write a retry table in another format
///
/// Values that the other format can't express (not-expressible), or can only approximate (approximated), are reported
/// on standard error, with their place in the table; docs/src/reference/converting.md says what each format can express.
/// With --deny such a finding is an error: nothing is written, and the exit status is 1.
///
/// The formats grpc and toml get exactly what the table says, in every dialect; the others get the settings
/// that it has in the dialect. gapic and client-config list methods one by one: with --proto those of the
/// protos, without it those that the table names.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// The retry tables: files, folders (with all tables in them), - for standard input; several are merged into one. If two name a method, the last one
    /// applies
    #[arg(value_name = "TABLE")]
    tables: Vec<PathBuf>,

    /// The format: grpc, gapic, client-config, toml, envoy or istio
    #[arg(long, value_name = "FORM", value_parser = form)]
    to: ConversionTarget,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    protos: ProtoFlags,

    /// Write nothing if there is a finding of that rule, or of that severity and above; may be repeated
    #[arg(long, value_name = "RULE", value_parser = rule_or_severity, help_heading = "Output")]
    deny: Vec<Target>,

    /// Hide findings of that rule or severity; may be repeated
    #[arg(long, value_name = "RULE", value_parser = rule_or_severity, help_heading = "Output")]
    allow: Vec<Target>,

    /// The file to write; without it the table goes to standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  gax table convert library_grpc_service_config.json --to toml -o library.toml
  gax table convert library_grpc_service_config.json --to envoy --deny not-expressible
  gax table convert --to client-config --proto-path protos --proto example/library.proto \\
                    -- library.toml";

fn form(text: &str) -> Result<ConversionTarget, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = ConversionTarget::ALL.iter().map(|target| target.as_str()).collect();
        format!("is not known; write one of {}", names.join(", "))
    })
}

pub(crate) fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let tables = args.protos.tables(&args.tables)?;
    let api = args.protos.describe()?;
    let table = args.reading.merged(&Input::tables(&tables)?, None, api.as_ref())?;
    let services = api.map(|api| api.services).unwrap_or_default();
    let linter = args.deny.iter().fold(Linter::new(), |linter, target| linter.deny(*target));
    let linter = args.allow.iter().fold(linter, |linter, target| linter.allow(*target));
    let convert = |out: &mut dyn io::Write| {
        let mut out = Text { out, error: None };
        let findings = table.convert_to(args.to, &services, &mut out).map(|findings| linter.apply(findings));
        findings.map_err(|_| out.error.unwrap_or_else(|| io::Error::other("it can't be written")))
    };
    // Whether anything is denied has to be known before anything is written.
    if !args.deny.is_empty() {
        let findings = convert(&mut io::sink()).unwrap_or_default();
        let denied = findings.iter().filter(|finding| finding.severity() == Severity::Error).count();
        if denied > 0 {
            warn(&table, &findings);
            return Err(Failure::Run(refusal(args.to, denied)));
        }
    }
    warn(&table, &write(args.output.as_deref(), convert)?);
    Ok(())
}

/// Prints warnings of the reader, and what the other form does not say.
fn warn(table: &RetryTable, findings: &[Finding]) {
    let warnings = table.findings().iter().filter(|finding| finding.severity() >= Severity::Warning);
    let mut err = BufWriter::new(anstream::stderr().lock());
    for finding in warnings.chain(findings) {
        let _unread = writeln!(err, "{finding}");
    }
}

fn write(
    output: Option<&Path>,
    convert: impl FnOnce(&mut dyn io::Write) -> io::Result<Vec<Finding>>,
) -> Result<Vec<Finding>, Failure> {
    let Some(path) = output else {
        let mut findings = Vec::new();
        stream(|out| {
            findings = convert(out)?;
            Ok(())
        })?;
        return Ok(findings);
    };
    let written = File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        let findings = convert(&mut file)?;
        file.flush()?;
        Ok(findings)
    });
    written.map_err(|error| usage!("--output: can't write {} ({error}); name another file", path.display()))
}

/// Text on its way to a file.
struct Text<'a> {
    out: &'a mut dyn io::Write,
    /// Why it could not be written.
    error: Option<io::Error>,
}

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}

fn refusal(form: ConversionTarget, count: usize) -> String {
    let findings = if count == 1 { "1 finding is" } else { &format!("{count} findings are") };
    format!("nothing is written as {form}: {findings} denied; change the table, or leave --deny out")
}
