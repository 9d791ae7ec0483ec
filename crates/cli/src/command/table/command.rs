//! The commands about tables.

use super::{clients, convert, diff, explain, lint, show};
use crate::failure::Failure;
use clap::Subcommand;
use std::process::ExitCode;

/// Show, check and compare retry tables
///
/// A retry table says, per method, which codes are retried, with which limits and back-off. It is a
/// gRPC service config, GAPIC YAML, a client config of Google's Node generator, or this project's own
/// TOML; the format is detected.
#[derive(Debug, Subcommand)]
pub(crate) enum TableCommand {
    Show(show::ShowArgs),
    Explain(explain::ExplainArgs),
    Lint(lint::LintArgs),
    Clients(clients::ClientsArgs),
    Convert(convert::ConvertArgs),
    Diff(diff::DiffArgs),
}

pub(crate) fn run(command: &TableCommand) -> Result<ExitCode, Failure> {
    match command {
        TableCommand::Show(args) => show::run(args).map(|()| ExitCode::SUCCESS),
        TableCommand::Explain(args) => explain::run(args).map(|()| ExitCode::SUCCESS),
        TableCommand::Lint(args) => lint::run(args),
        TableCommand::Clients(args) => clients::run(args).map(|()| ExitCode::SUCCESS),
        TableCommand::Convert(args) => convert::run(args).map(|()| ExitCode::SUCCESS),
        TableCommand::Diff(args) => diff::run(args),
    }
}
