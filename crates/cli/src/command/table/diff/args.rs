//! The flags of `gax table diff`.

use super::kinds::Kind;
use super::rename::{Rename, rename};
use crate::command::table::source::{ProtoFlags, Reading};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Compare two retry tables by their effects on callers and services
///
/// Compares what the tables lead to, not their lines: which codes are retried, how long a call may take, how
/// many attempts an outage or a silent service makes and when, how operations are polled and requests batched; for HTTP requests
/// which of them a rule is for, and whether they are safe to retry. The order of
/// entries, names of definitions and the format make no difference.
///
/// OLD and NEW are each a file, a folder (all tables in it are treated as one), - for standard input, or REV:path as
/// git show takes it: HEAD:tables, main:./retry.json.
///
/// Each change is of one or more kinds, which --deny takes: added and removed (the method has a policy now, or
/// no longer has one), more-aggressive and less-aggressive (the load on the service), slower and faster
/// (the longest that a call can take). The exit status is 1 if a change is denied.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The tables before the change
    #[arg(value_name = "OLD")]
    pub(super) old: PathBuf,

    /// The tables after the change
    #[arg(value_name = "NEW")]
    pub(super) new: PathBuf,

    #[command(flatten)]
    pub(super) reading: Reading,

    /// The API's GAPIC YAML: how long-running operations are polled and requests are batched. Of two files the
    /// first goes with OLD and the second with NEW; REV:path is fine here too
    #[arg(long, value_name = "FILE", num_args = 1..=2, help_heading = "Tables")]
    pub(super) gapic_yaml: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) protos: ProtoFlags,

    /// Exit with status 1 if there is a change of these kinds
    #[arg(long, value_enum, value_name = "KIND,..", value_delimiter = ',', help_heading = "Comparison")]
    pub(super) deny: Vec<Denied>,

    /// Compare what was called OLD with what is called NEW: a package, a service or a method, such as
    /// example.v1=example.v2; may be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = rename, help_heading = "Comparison")]
    pub(super) rename: Vec<Rename>,

    /// Output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text, help_heading = "Output")]
    pub(super) format: DiffFormat,
}

const EXAMPLES: &str = "\
Examples:
  gax table diff HEAD:retry_grpc_service_config.json retry_grpc_service_config.json
  gax table diff origin/main:tables tables --deny removed,more-aggressive --format github
  gax table diff library_v1.json library_v2.json --rename example.library.v1=example.library.v2

JSON:
  {\"methods\":[{\"method\":..,\"old_method\":..,
    \"kinds\":[{\"kind\":..,\"reasons\":[..],\"denied\":true|false},..],
    \"changes\":[{\"what\":..,\"old\":..,\"new\":..,\"old_place\":\"file:line\",\"new_place\":..},..]},..],
    \"counts\":{\"added\":..,\"removed\":..,\"more-aggressive\":..,\"less-aggressive\":..,
      \"slower\":..,\"faster\":..},
    \"changed\":..,\"unchanged\":..,\"denied\":true|false}
  what: entry, codes, only_with_server_delay, total_timeout_ms, rpc_timeout, delay, max_server_delay_ms, first_retry_ms,
  worst_case_ms, attempts, load, attempts_of_silence, hedging, idempotent, polling or batching
  (these four in the form of gax table show), or retry_throttling. Of HTTP requests, whose rules are called http NAME, also
  requests, class, hedgeable, statuses, failures or retry_after.
  rpc_timeout, delay: initial_ms, multiplier, max_ms; delay has jittered too.
  attempts_of_silence: those of a call if nothing replies. counts: of methods.
  codes: those that another attempt follows. old_method: null if the name is the same.
  old, new and the places: null for no limit, nothing, or no place.";

/// A value of `--deny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Denied {
    /// The method has a policy, and had none
    Added,
    /// The method no longer has a policy
    Removed,
    /// The service gets more requests in an outage, or sooner, or after more codes
    MoreAggressive,
    /// The reverse: fewer requests, later, after fewer codes
    LessAggressive,
    /// A call may take longer
    Slower,
    /// A call has less time
    Faster,
    /// Any change
    Any,
}

impl Denied {
    /// Returns whether a change of these kinds is meant.
    pub(super) fn covers(self, kind: Kind) -> bool {
        let name = self.to_possible_value();
        self == Denied::Any || name.is_some_and(|name| name.get_name() == kind.as_str())
    }
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DiffFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub's workflows
    Github,
}
