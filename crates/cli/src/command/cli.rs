//! The command line.

use super::{completions, conformance, generate, man, plan, serve, table};
use crate::failure::Failure;
use clap::{CommandFactory as _, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

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
    Plan(Box<plan::PlanArgs>),
    Serve(Box<serve::ServeArgs>),
    Generate(generate::GenerateArgs),
    #[command(subcommand)]
    Table(table::TableCommand),
    #[command(hide = true)]
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
            Command::Plan(args) => plan::run(&args).map(|()| ExitCode::SUCCESS),
            Command::Serve(args) => serve::run(&args),
            Command::Generate(args) => generate::run(&args),
            Command::Table(command) => table::run(&command),
            Command::Conformance(args) => conformance::run(&args),
            Command::Completions(args) => completions::run(&args, Cli::command()).map(|()| ExitCode::SUCCESS),
            Command::Man(args) => man::run(&args, Cli::command()).map(|()| ExitCode::SUCCESS),
        }
    }
}
