//! The command.

use super::{json, preset, stub_tables, text};
use crate::command::table::source::{GapicFlag, ProtoFlags, Reading, WithFlag, java_package_of_gapic};
use crate::command::table::view::{find, methods};
use crate::command::{print_json, stream, warn};
use crate::failure::{Failure, usage};
use crate::input::Input;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use gax_retry::http::presets;
use gax_table::Dialect;
use std::path::PathBuf;

/// Show what a retry table says, method by method
///
/// Shows for each method the codes that are retried, the limits and delays, the line that each comes
/// from, and when attempts start if the service rejects all of them. With --proto these are all methods of
/// the protos, otherwise the names in the table. If several tables name a method, the last one applies.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    /// The retry tables: files, folders (with all tables in them), - for standard input. Not needed with protos and --dialect gax-java
    #[arg(value_name = "TABLE")]
    tables: Vec<PathBuf>,

    /// Show this preset instead of tables, and which HTTP requests it treats as safe to retry
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(presets::names()), conflicts_with_all = ["tables", "method", "gapic_yaml"])]
    preset: Option<String>,

    /// Only this method: pkg.Service/Method, or just Method if only one has that name
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    with: WithFlag,

    #[command(flatten)]
    protos: ProtoFlags,

    #[command(flatten)]
    gapic: GapicFlag,

    /// Output format
    #[arg(long, value_enum, default_value_t = ShowFormat::Text, help_heading = "Output")]
    format: ShowFormat,

    /// With --format json: estimate by how much an outage multiplies the service's load. Takes a moment per policy
    #[arg(long, help_heading = "Output")]
    load: bool,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// The settings that generated clients start from, in the format stub-tables/1; needs --proto
    StubTables,
}

const EXAMPLES: &str = "\
Examples:
  gax table show library_grpc_service_config.json --method GetBook
  gax table show --format stub-tables --dialect gax-java --proto-path protos \\
                 --proto google/cloud/redis/v1/cloud_redis.proto --gapic-yaml redis_gapic.yaml \\
                 --service-yaml redis_v1.yaml -- redis_grpc_service_config.json
  gax table show --preset storage

JSON:
  {\"dialect\":..,\"retry_throttling\":{\"max_tokens\":..,\"token_ratio\":..},
    \"allow\":[{\"rule\":..,\"reason\":..},..],
    \"http\":{\"prefixes\":[..],\"settings\":REQUESTS,\"rules\":[RULE,..]},\"other_fields\":{..},
    \"methods\":[{\"service\":..,\"method\":..,\"entry\":..,\"codes_key\":..,\"params_key\":..,
    \"codes\":[..],\"total_timeout_ms\":..,\"initial_retry_delay_ms\":..,\"retry_delay_multiplier\":..,
    \"max_retry_delay_ms\":..,\"max_attempts\":..,\"jittered\":..,\"initial_rpc_timeout_ms\":..,
    \"rpc_timeout_multiplier\":..,\"max_rpc_timeout_ms\":..,\"max_server_delay_ms\":..,
    \"only_with_server_delay\":[..],
    \"hedging\":{\"delay_ms\":..,\"delay_percentile\":..,\"max_attempts\":..,\"non_fatal_codes\":[..]},
    \"wait_for_ready\":..,\"wait_timeout_ms\":..,\"idle_timeout_ms\":..,
    \"max_request_message_bytes\":..,\"max_response_message_bytes\":..,
    \"polling\":{\"initial_delay_ms\":..,\"delay_multiplier\":..,\"max_delay_ms\":..,\"total_timeout_ms\":..},
    \"batching\":{\"element_count_threshold\":..,\"request_byte_threshold\":..,\"delay_threshold_ms\":..,
      \"max_outstanding_elements\":..,\"max_outstanding_bytes\":..,\"limit_exceeded\":..},
    \"idempotent\":..,
    \"origins\":{VALUE:\"file:line:column\"},
    \"worst_case_ms\":..,\"refused_at_ms\":[..],\"load\":..,\"load_capped\":..},..]}
  method is null in an entry for all methods of a service, service in one for all services. Other
  values are null if they are not set, and all of them if the table has no entry for the method.
  load: how many attempts a call makes on average if all are rejected at once; null without --load.
  load_capped: whether a call made more than 10000 of them, which were not counted: the load is higher.
  other_fields: what a service config contains besides retries, such as loadBalancingConfig.
  With --preset:
  {\"preset\":..,\"source\":..,\"waits\":..,\"limits\":..,\"statuses\":[..],\"transport_failures\":[..],
    \"strategy\":..,\"applies_retry_after\":..,\"prefixes\":[..],\"rules\":[RULE,..]}
  RULE is {\"name\":..,\"method\":..,\"hosts\":[..],\"path\":..,\"class\":..,\"preconditions\":[..],
    \"hedgeable\":..,\"origin\":..,\"settings\":REQUESTS}; values that are not set are omitted.
  REQUESTS has the settings of a method, and in place of codes \"statuses\":[..],\"failures\":[..],
    \"retry_after\":.. (null: by the compatibility).";

pub(crate) fn run(args: &ShowArgs) -> Result<(), Failure> {
    if let Some(name) = &args.preset {
        if args.format == ShowFormat::StubTables {
            return Err(usage!("--preset can't go with --format stub-tables; a preset has no RPCs"));
        }
        return preset::run(name, args.format == ShowFormat::Json);
    }
    if args.load && args.format != ShowFormat::Json {
        return Err(usage!("--load needs --format json; for one method gax table explain says it in words"));
    }
    let api = args.protos.describe()?;
    // Google's Java generator makes clients without a table too.
    let needs_table = api.is_none() || args.reading.dialect() != Dialect::GaxJava;
    let tables = if needs_table && !args.gapic.is_given() {
        args.protos.tables(&args.tables)?
    } else {
        args.protos.tables_if_any(&args.tables)
    };
    let tables: Vec<_> = tables.into_iter().chain(args.with.with.iter().cloned()).collect();
    let (tables, gapic_yaml) = (Input::tables(&tables)?, args.gapic.read()?);
    let table = args.reading.merged(&tables, gapic_yaml.as_ref(), api.as_ref())?;
    warn(table.findings());
    if args.format == ShowFormat::StubTables {
        if args.method.is_some() {
            return Err(usage!(
                "--method can't go with --format stub-tables, which has all methods; leave it out"
            ));
        }
        let mut api =
            api.ok_or_else(|| usage!("--format stub-tables needs --proto; name the protos of the API"))?;
        let java_package = gapic_yaml.as_ref().and_then(java_package_of_gapic);
        if let Some(written) = java_package {
            api.java_packages.values_mut().for_each(|package| package.clone_from(&written));
        }
        return print_json(&stub_tables::document(&table, &api));
    }
    let mut rows = methods(&table, api.as_ref());
    if let Some(method) = &args.method {
        rows = vec![find(&rows, &table, method)?];
    }
    if args.format == ShowFormat::Json {
        return print_json(&json::Document::new(rows, &table, args.load));
    }
    let http = table.http().filter(|_| args.method.is_none());
    stream(|out| {
        text::render(&rows, out)?;
        http.map_or(Ok(()), |http| text::render_http(&table, http, out))
    })
}
