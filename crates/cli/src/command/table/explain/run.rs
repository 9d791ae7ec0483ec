//! The command.

use super::explanation::Explanation;
use super::reader::Reader;
use super::request::Headers;
use super::{http, request, text};
use crate::command::table::bounds::Bounds;
use crate::command::table::source::{GapicFlag, ProtoFlags, Reading, WithFlag};
use crate::command::table::view::{find, has_nothing, methods};
use crate::command::{Format, print, print_json};
use crate::failure::Failure;
use crate::input::Input;
use clap::Args;
use gax_retry::plan::Impact;
use gax_table::{Dialect, TableFormat};
use std::path::PathBuf;

/// Explain what a retry table means for one method, or for one HTTP request
///
/// Explains how many attempts a call makes and when, what ends it, how long it can take, and how much load
/// an outage adds to the service; which line each value comes from; and how other clients interpret the
/// same table.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(crate) struct ExplainArgs {
    /// The retry table; - is standard input
    #[arg(value_name = "TABLE")]
    table: PathBuf,

    /// The method: pkg.Service/Method, or just Method if only one has that name. For HTTP requests the name of a rule, or a request
    /// such as "POST /v1/payments", with a path or URL
    #[arg(value_name = "METHOD")]
    method: String,

    /// A header of the HTTP request; may be repeated
    #[arg(long, value_name = "NAME: VALUE", help_heading = "Request")]
    header: Vec<String>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    with: WithFlag,

    #[command(flatten)]
    gapic: GapicFlag,

    #[command(flatten)]
    protos: ProtoFlags,

    /// Apply the environment variables `GAX_RETRIES`, `GAX_TOTAL_TIMEOUT` and `GAX_MAX_ATTEMPTS`, which lower limits, like a program that reads them
    #[arg(long, help_heading = "Environment")]
    env: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
}

const JSON: &str = "\
JSON:
  {\"method\":..,\"dialect\":..,\"environment\":..,\"codes\":[..],\"attempts_at_most\":..,\"worst_case_ms\":..,\"load\":..,
    \"load_capped\":..,\"throttled_load\":..,\"refused\":PLAN,\"hanging\":PLAN,\"polling\":..,\"batching\":..,
    \"idempotent\":..,
    \"dialects\":[{\"dialect\":..,\"codes\":[..],\"total_timeout_ms\":..,\"max_attempts\":..,
    \"worst_case_ms\":..,\"load\":..,\"load_capped\":..,\"problem\":..},..]}
  PLAN is in the form of gax plan, without jitter. refused: every attempt is rejected at once.
  hanging: no attempt gets a reply. polling, batching and idempotent are in the form of gax table show.
  environment: null without --env, else {\"retries\":\"off\"|\"on\",\"total_timeout_ms\":..,\"max_attempts\":..}.
  load_capped: whether a call made more than 10000 attempts, which were not counted: the load is higher.
  dialects: only the table's own dialect for TOML, which other clients do not read.
  throttled_load: the load of 100 operations, one after the other, with retry throttling.
  For an HTTP request:
  {\"request\":..,\"rule\":..,\"origin\":..,\"class\":..,\"safe_to_retry\":..,\"hedged\":..,\"environment\":..,
    \"statuses\":[..],\"failures\":[..],\"attempts_at_most\":..,\"worst_case_ms\":..,\"load\":..,\"load_capped\":..,
    \"throttled_load\":..,\"refused\":PLAN,\"hanging\":PLAN}
  null: attempts_at_most if no number limits them, worst_case_ms if a call may take forever,
  throttled_load if the table has no retry throttling, problem if the dialect accepts the table.";

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let bounds = Bounds::read(args.env)?;
    let api = args.protos.describe()?;
    let (mut tables, gapic_yaml) = (vec![Input::table(&args.table)?], args.gapic.read()?);
    tables.extend(Input::tables(&args.with.with)?);
    let table = args.reading.merged(&tables, gapic_yaml.as_ref(), api.as_ref())?;
    if let Some(http) = table.http() {
        if let Some(request) = request::find(http, &args.method, &Headers(&args.header))? {
            return http::run(&table, &request, bounds, args.format);
        }
        if table.names().next().is_none() {
            return Err(request::unknown(http, &args.method));
        }
    }
    let view = find(&methods(&table, api.as_ref()), &table, &args.method)?;
    let policy = view.policy.ok_or_else(|| has_nothing(&args.method))?;
    let dialect = table.dialect();
    let bounded = policy.to_policy(dialect.compatibility()).with_environment(&bounds.environment());
    let budget = table.throttling().map(|throttling| throttling.budget());
    let impact = Impact::of(&bounded.clone().with_budget(budget));
    let mut explanation = Explanation::new(&view, &bounded, &impact, bounds);
    let own_text = match args.format {
        Format::Json => String::new(),
        Format::Text => text::own(&explanation, &view, policy, &impact, bounds),
    };
    let own = Reader::of_table(&table, dialect, view.service, view.method);
    let (service, method) = (view.service.to_owned(), view.method.to_owned());
    let is_own_form = policy.format() == Some(TableFormat::Toml);
    // A table takes many times its text: one is there at a time.
    drop(table);
    let reader = |other: Dialect| {
        if other == dialect {
            return own.clone();
        }
        match args.reading.merged_in(other, &tables, gapic_yaml.as_ref()) {
            Ok(table) => Reader::of_table(&table, other, &service, &method),
            Err(error) => Reader::refusing(other, &error),
        }
    };
    // Nobody else reads this project's own form.
    let others = Dialect::ALL.iter().filter(|other| !is_own_form || **other == dialect);
    explanation.dialects = others.map(|dialect| reader(*dialect)).collect();
    match args.format {
        Format::Json => print_json(&explanation),
        Format::Text if is_own_form => print(&own_text),
        Format::Text => print(&(own_text + &text::others(&explanation.dialects))),
    }
}
