//! The flags of `gax generate`.

use crate::command::Format;
use crate::value;
use clap::Args;
use gax_table::Dialect;
use std::path::{Path, PathBuf};

/// Write settings and clients for protos and retry tables, without a build script
///
/// Writes what tonic-gax-build writes from a build script: messages, tonic's client and server, and for
/// each service its settings and a client that retries. No protoc is needed. Findings about the
/// tables go to standard error.
///
/// With --check nothing is written. If the code is not up to date, the difference is printed, and the exit
/// status is 1. The same input gives the same code on every machine.
///
/// Each run lists the files that it writes in .gax-generated in the same directory. A file in the list that is no
/// longer generated is removed; no other file is replaced or removed.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct GenerateArgs {
    /// A retry table (- is standard input); may be repeated. If two tables name a method, the later one
    /// applies
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Input")]
    pub(super) table: Vec<PathBuf>,

    /// The API's GAPIC YAML: how long-running operations are polled and requests are batched; may be repeated
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Input")]
    pub(super) gapic_yaml: Vec<PathBuf>,

    /// The API's service YAML: clients get the methods that it mixes in, if their protos are given too
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(super) service_yaml: Option<PathBuf>,

    /// Which client's interpretation of the tables to use
    #[arg(long, value_parser = value::dialect(), default_value_t = Dialect::AsWritten, help_heading = "Input")]
    pub(super) dialect: Dialect,

    /// Directory to search for protos and their imports; may be repeated
    #[arg(long, value_name = "DIR", num_args = 1.., default_value = ".", help_heading = "Input")]
    pub(super) proto_path: Vec<PathBuf>,

    /// A proto to generate code for, relative to --proto-path; may be repeated
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "descriptor_set", help_heading = "Input")]
    pub(super) proto: Vec<PathBuf>,

    /// Compiled protos instead of --proto: what `protoc --include_imports --descriptor_set_out` or `buf build` writes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["proto", "proto_path"], help_heading = "Input")]
    pub(super) descriptor_set: Option<PathBuf>,

    /// Fail if a name in a table is close to a name in the protos, but not one of them
    #[arg(long, help_heading = "Input")]
    pub(super) deny_unknown_methods: bool,

    /// Use existing Rust types for a proto package or type; may be repeated
    #[arg(
        long, value_name = ".PACKAGE=::RUST::PATH", value_parser = extern_path,
        allow_hyphen_values = true, help_heading = "Code"
    )]
    pub(super) extern_path: Vec<(String, String)>,

    /// Leave out tonic's own client
    #[arg(long, help_heading = "Code")]
    pub(super) no_client: bool,

    /// Leave out tonic's own server
    #[arg(long, help_heading = "Code")]
    pub(super) no_server: bool,

    /// Leave out connect, which needs tonic's feature "channel"
    #[arg(long, help_heading = "Code")]
    pub(super) no_transport: bool,

    /// Add clients over HTTP and JSON, which need the crate gax-rest
    #[arg(long, help_heading = "Code")]
    pub(super) rest: bool,

    /// Add batchers for the methods that the GAPIC YAML batches, which need the crate gax-batching
    #[arg(long, help_heading = "Code")]
    pub(super) batching: bool,

    /// Directory for the code; created if it doesn't exist
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(super) out: PathBuf,

    /// Add a file that includes all others in a tree of modules, such as mod.rs
    #[arg(long, value_name = "NAME", value_parser = include_file, help_heading = "Output")]
    pub(super) include_file: Option<String>,

    /// Write nothing; print the difference and fail if the code is not up to date
    #[arg(long, help_heading = "Output")]
    pub(super) check: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub(super) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  gax generate --table proto/cloudasset_grpc_service_config.json --proto-path proto \\
               --proto google/cloud/asset/v1/asset_service.proto \\
               --out src/generated --include-file mod.rs
  gax generate .. --check
  gax generate .. --extern-path .google=::googleapis_tonic_google_cloud_asset_v1::google

JSON:
  {\"files\":[{\"name\":\"google.cloud.asset.v1.rs\",\"state\":\"same\"|\"changed\"|\"missing\"|\"left-over\",
    \"diff\":..},..],\"up_to_date\":false,\"findings\":[{\"rule\":..,\"severity\":\"note\"|\"warning\"|\"error\",
    \"message\":..,\"help\":..,\"file\":..,\"line\":..,\"column\":..},..]}
  state: before the run. null: diff without --check or if nothing differs; help and
  place of a finding that has none.";

/// Reads `.package=::rust::path`.
fn extern_path(text: &str) -> Result<(String, String), String> {
    let advice = "write .package=::rust::path";
    match text.split_once('=') {
        None => Err(format!("has no \"=\"; {advice}")),
        Some((proto, _)) if !proto.starts_with('.') => {
            Err(format!("does not start with the dot that full proto names start with; {advice}"))
        }
        Some((_, "")) => Err(format!("names no Rust path; {advice}")),
        Some((proto, rust)) => Ok((proto.to_owned(), rust.to_owned())),
    }
}

/// Reads the name of a Rust file.
fn include_file(text: &str) -> Result<String, String> {
    let is_plain = !text.contains(['/', '\\', '"']);
    if is_plain && Path::new(text).extension().is_some_and(|extension| extension == "rs") {
        return Ok(text.to_owned());
    }
    Err("is not the name of a Rust file without a folder; write a name such as mod.rs".to_owned())
}
