//! The commands, one file each.

mod completions;
mod conformance;
mod demo;
mod generate;
mod man;
mod plan;
mod table;

use crate::failure::Failure;
use crate::render::write_json;
use clap::{Parser, Subcommand, ValueEnum};
use gax_retry::jitter::JitterSource as _;
use serde_json::ser::{CompactFormatter, PrettyFormatter};
use std::ffi::OsString;
use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

/// How much output is gathered before it is written.
const BUFFER: usize = 64 * 1024;

/// Plan, check and try out the retry settings of gRPC clients
///
/// An operation is one call, made of one or more attempts. Every command has its own --help.
///
/// Exit status: 0 success, 1 findings, 2 usage error, or the output can't be written.
#[derive(Debug, Parser)]
#[command(name = "gax", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    Plan(Box<plan::PlanArgs>),
    Generate(generate::GenerateArgs),
    #[command(subcommand)]
    Table(table::TableCommand),
    Conformance(conformance::ConformanceArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Reads the command line.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    Cli::try_parse_from(arguments).map(|cli| cli.command)
}

impl Command {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Command::Demo(args) => demo::run(&args),
            Command::Plan(args) => plan::run(&args),
            Command::Generate(args) => generate::run(&args),
            Command::Table(command) => table::run(&command),
            Command::Conformance(args) => conformance::run(&args),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// A seed nobody chose, short enough to be typed.
fn fresh_seed() -> u64 {
    gax_retry::ThreadJitter.next_u64() >> 40
}

/// Prints text, whose styles are dropped where standard output is no terminal.
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
fn pretty_json(value: &impl serde::Serialize) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    write_json(&mut text, value, PrettyFormatter::new())?;
    Ok(text)
}
