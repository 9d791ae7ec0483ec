//! The commands, one file each.

mod completions;
mod conformance;
mod demo;
mod generate;
mod man;
mod plan;
mod table;

use crate::failure::Failure;
use clap::{Parser, Subcommand, ValueEnum};
use gax_retry::__private::is_unprintable;
use gax_retry::JitterSource as _;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Plan, check and try out the retry settings of gRPC clients
///
/// An operation is one call, made of one or more attempts. Every command has its own --help.
///
/// Exit status: 0 success, 1 findings, 2 usage error.
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
pub(crate) fn parse() -> Result<Command, clap::Error> {
    Cli::try_parse().map(|cli| cli.command)
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
    use std::io::Write as _;
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints data as one line of JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

/// Data as one line of JSON.
fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    Ok(printable(&serde_json::to_string(value).map_err(std::io::Error::from)?))
}

/// Data as JSON in many lines.
fn pretty_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    Ok(printable(&serde_json::to_string_pretty(value).map_err(std::io::Error::from)?))
}

/// The same JSON without what a terminal would act on: it stands in strings only, and all of it that serde
/// does not escape has four digits at most.
fn printable(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if c.is_ascii_control() && c != '\u{7f}' || !is_unprintable(c) {
            text.push(c);
        } else {
            let _infallible = write!(text, "\\u{:04x}", u32::from(c));
        }
    }
    text.push('\n');
    text
}
