//! The flags of `gax table lint`.

use crate::command::table::source::{ProtoFlags, Reading, WithFlag};
use crate::value;
use clap::{Args, ValueEnum};
use gax_table::clients::Client;
use gax_table::lint::{Target, UnknownTargetError};
use std::path::PathBuf;

/// Lint retry tables for errors, dead settings and unsafe retries
///
/// Every rule has a name; the guide's page "Checking tables" has the reason and an example of the fix for each. With --proto
/// further rules look at the methods that a table is for: names that no proto has, methods that are not safe
/// to retry, methods that the table leaves out. Several tables are also compared: versions of an API that
/// drift apart.
///
/// A gax.toml next to a table, or in a folder above it, can deny, allow and ignore findings.
///
/// The exit status is 1 if a finding is an error, by itself or because it is denied, and 2 if a file can't
/// be read; the other files are still linted.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct LintArgs {
    /// The retry tables: files, folders (with all tables in them), - for standard input
    #[arg(value_name = "TABLE")]
    pub(super) tables: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) reading: Reading,

    #[command(flatten)]
    pub(super) with: WithFlag,

    #[command(flatten)]
    pub(super) protos: ProtoFlags,

    /// Make findings of these rules, or of that severity and above, errors
    #[arg(long, value_name = "RULE,..", value_parser = rule_or_severity, value_delimiter = ',', help_heading = "Rules")]
    pub(super) deny: Vec<Target>,

    /// Hide findings of these rules or severities
    #[arg(long, value_name = "RULE,..", value_parser = rule_or_severity, value_delimiter = ',', help_heading = "Rules")]
    pub(super) allow: Vec<Target>,

    /// Report an error for entries that would multiply the load on the service by more than this during an outage
    #[arg(long, value_name = "NUMBER", value_parser = value::load, allow_hyphen_values = true, help_heading = "Rules")]
    pub(super) max_load: Option<f64>,

    /// Also report what these clients don't do as the table says: grpc-go, grpc-java, grpcio, grpc-js
    #[arg(long, value_name = "CLIENT,..", value_parser = value::parsed::<Client>, value_delimiter = ',', help_heading = "Rules")]
    pub(super) client: Vec<Client>,

    /// Hide the findings that this file lists
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub(super) baseline: Option<PathBuf>,

    /// Write all findings to this file, for --baseline, instead of printing them
    #[arg(long, value_name = "FILE", conflicts_with = "baseline", help_heading = "Rules")]
    pub(super) write_baseline: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = LintFormat::Text, help_heading = "Output")]
    pub(super) format: LintFormat,

    /// Print errors only
    #[arg(long, short, help_heading = "Output")]
    pub(super) quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  gax table lint library_grpc_service_config.json
  gax table lint --deny warning --allow cap-equals-timeout,short-timeout tables/
  gax table lint --proto-path protos --proto google/cloud/asset/v1/asset_service.proto \\
                 --baseline known.json -- cloudasset_grpc_service_config.json

gax.toml:
  [lint]
  deny = [\"warning\"]
  allow = [\"cap-equals-timeout\"]
  client = [\"grpc-js\", \"grpcio\"]   # as --client

  [[lint.ignore]]
  rule = \"short-timeout\"
  file = \"tables/*.json\"              # relative to gax.toml; without it: in all files
  name = \"example.v1.Library/GetBook\" # a method, or a service; without it: all
  reason = \"replies come from a cache\"

JSON:
  {\"findings\":[{\"rule\":..,\"severity\":\"note\"|\"warning\"|\"error\",\"message\":..,\"help\":..,\"file\":..,
    \"line\":..,\"column\":..,\"end_line\":..,\"end_column\":..,\"name\":..},..],
    \"errors\":..,\"warnings\":..,\"notes\":..,\"ignored\":..,\"known\":..}
  ignored: how many gax.toml suppresses. known: how many the baseline lists. help, name and the
  place are null for a finding that has none.";

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LintFormat {
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
pub(in crate::command::table) fn rule_or_severity(text: &str) -> Result<Target, String> {
    text.parse().map_err(|error: UnknownTargetError| match error.suggestion() {
        Some(rule) => format!("is neither a rule nor a severity; did you mean {rule}?"),
        None => "is neither a rule nor a severity; write note, warning, error or a rule of docs/src/lint.md"
            .to_owned(),
    })
}
