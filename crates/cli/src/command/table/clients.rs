//! `gax table clients`: what other gRPC clients make of a table.

use crate::command::{Format, print_json, stream};
use crate::failure::Failure;
use crate::input::Input;
use crate::render::{Align, Cell, Grid, Role, grouped, table};
use crate::value::parsed;
use clap::Args;
use gax_table::Finding;
use gax_table::clients::{self, Client, ClientOptions, ClientReport, MethodReport, Script, Verdict};
use gax_text::Escaped;
use serde_json::{Value, json};
use std::io::Write;
use std::iter::once;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Show what other gRPC clients make of a service config
///
/// For each name of the table and each client: as-written; changed; no-retries; refused-at-creation, when the channel is
/// made, or refused-per-call, by every call; or unknown. Under the table is what each of them does otherwise, with its place and what to
/// write so that clients agree. A file that a client can't read is no error here: that is what the client makes of it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ClientsArgs {
    /// The service config; - is standard input
    #[arg(value_name = "TABLE")]
    table: PathBuf,

    /// Only these clients: grpc-go, grpc-java, grpcio, grpc-js
    #[arg(
        long, value_name = "CLIENT,..", value_parser = parsed::<Client>, value_delimiter = ',',
        default_values = Client::ALL.map(Client::name), hide_default_value = true
    )]
    client: Vec<Client>,

    /// An option that the channel is given, such as `grpc.enable_retries=0`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    option: Vec<(String, String)>,

    /// What a server answers to a call, so that attempts are counted; may be repeated for further calls
    ///
    /// T14*3;OK is three times the status 14 without headers, then a reply. H14: after headers. R7: the stream is reset with that
    /// code. S503: an HTTP status. HANG: no answer, as after the last one. T14,p=100: with a pushback of 100 ms.
    #[arg(long, value_name = "ANSWERS", value_parser = parsed::<Script>)]
    calls: Vec<Script>,

    /// The method that is called: pkg.Service/Method, whatever the names of the table are
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  gax table clients library_grpc_service_config.json
  gax table clients --client grpc-js,grpcio --calls 'T14*10;OK' library_grpc_service_config.json
  gax table clients --client grpc-java --option java.maxRetryAttempts=10 library_grpc_service_config.json

JSON:
  {\"clients\":[{\"client\":\"grpc-js\",\"version\":..,\"verdict\":\"as-written\"|\"changed\"|\"no-retries\"|
    \"refused-at-creation\"|\"refused-per-call\"|\"unknown\",\"code\":..,\"reason\":..,
    \"methods\":[{\"method\":..,\"verdict\":..,\"reason\":..,\"attempts\":[..],\"delays_ms\":[..],\"timeout_ms\":..,
    \"codes\":[..]},..],\"findings\":[{\"verdict\":..,\"message\":..,\"help\":..,\"line\":..,\"column\":..},..]},..]}
  attempts: of each call of --calls; without it, the most that one call has. The verdict of a client is the
  worst of its methods, but for methods for which the table asks nothing.";

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("has no value; write such as grpc.enable_retries=0")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) fn run(args: &ClientsArgs) -> Result<(), Failure> {
    let input = Input::table(&args.table)?;
    let script = args.calls.iter().cloned().reduce(Script::then);
    let options = args.option.iter().cloned();
    let options = options.fold(ClientOptions::default(), |options, (name, value)| options.with(name, value));
    let read = |client: &Client| {
        let (script, method) = (script.as_ref(), args.method.as_deref());
        client.read_file(Some(&input.name), &input.content, &options, script, method)
    };
    let reports: Vec<ClientReport> = args.client.iter().map(read).collect();
    match args.format {
        Format::Json => print_json(&json!({ "clients": reports.iter().map(data).collect::<Vec<_>>() })),
        Format::Text => stream(|out| text(out, &input, &reports)),
    }
}

/// The attempts that one client makes of a call, for `gax plan --client`.
pub(crate) fn other_client(
    client: Client,
    table: &Path,
    method: Option<&str>,
    format: Format,
) -> Result<(), Failure> {
    let input = Input::table(table)?;
    let full = method.filter(|method| method.contains('/'));
    let mut report = client.read(&input.content, &ClientOptions::default(), None, full);
    if let (Some(method), None) = (method, full) {
        report.methods.retain(|known| known.method.ends_with(&format!("/{method}")));
    }
    if let Format::Json = format {
        return print_json(&data(&report));
    }
    stream(|out| {
        if report.methods.is_empty() {
            let reason = report.reason.as_deref().or(Some("the table has no such method"));
            writeln!(out, "{client}: {}", outcome(report.verdict, report.code, reason))?;
        }
        for method in &report.methods {
            let told = outcome(method.verdict, None, method.reason.as_deref());
            writeln!(out, "{client}, {}: {told}", Escaped(&method.method))?;
            // Back-off has a random factor, the delay between hedges none.
            let random = format!(", x {}", client.rule("backoff.jitter"));
            let random = if method.is_hedged { "" } else { &random };
            let later = |delay: &Duration| format!("{delay:?} later{random}");
            let starts = once("at once".to_owned()).chain(method.delays.iter().map(later));
            for (number, start) in (1..=method.attempts.iter().sum()).zip(starts) {
                writeln!(out, "  attempt {number}: {start}")?;
            }
            let limit =
                method.timeout.map_or("without a timeout".to_owned(), |limit| format!("timeout {limit:?}"));
            let codes = if method.codes.is_empty() { "no code".to_owned() } else { method.codes.join(", ") };
            writeln!(out, "  {limit}; the next attempt follows {codes}")?;
        }
        Ok(())
    })
}

/// A report for programs.
fn data(report: &ClientReport) -> Value {
    let millis = |time: Duration| time.as_secs_f64() * 1000.0;
    let methods = report.methods.iter().map(|method| {
        json!({
            "method": method.method, "verdict": method.verdict.as_str(), "reason": method.reason,
            "attempts": method.attempts, "delays_ms": method.delays.iter().copied().map(millis).collect::<Vec<_>>(),
            "timeout_ms": method.timeout.map(millis), "codes": method.codes,
        })
    });
    let findings = report.deviations.iter().map(|known| {
        json!({
            "verdict": known.verdict.as_str(), "message": known.message, "help": known.help,
            "line": known.origin.line(), "column": known.origin.column(),
        })
    });
    json!({
        "client": report.client.name(), "version": report.client.version(), "verdict": report.verdict.as_str(),
        "code": report.code, "reason": report.reason, "methods": methods.collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
    })
}

/// `refused-per-call (INVALID_ARGUMENT): maxAttempts is missing`
fn outcome(verdict: Verdict, code: Option<&str>, reason: Option<&str>) -> String {
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    Escaped(format!("{verdict}{code}{reason}")).to_string()
}

fn text(out: &mut dyn Write, input: &Input, reports: &[ClientReport]) -> Result<(), Failure> {
    let findings = clients::findings(reports);
    let is_unread = |report: &ClientReport| report.methods.is_empty() && report.verdict > Verdict::NoRetries;
    if let Some(place) = findings.first().and_then(Finding::origin)
        && !input.text().trim_start().starts_with('{')
        && reports.iter().all(is_unread)
    {
        let problem = "none of these clients can read the file, which is not JSON";
        return Ok(writeln!(out, "{place}: {problem}; write it with gax table convert --to grpc")?);
    }
    for report in reports {
        let told = outcome(report.verdict, report.code, report.reason.as_deref());
        writeln!(out, "{}: {told}", report.client)?;
    }
    write!(out, "\n{}", table(&grid(reports), 0))?;
    if !findings.is_empty() {
        writeln!(out)?;
    }
    findings.iter().try_for_each(|finding| Ok(writeln!(out, "{finding}")?))
}

/// What each client makes of each name; names with the same cells are one row.
fn grid(reports: &[ClientReport]) -> Grid {
    let mut grid = Grid::new([("METHOD", Align::Left)]);
    for report in reports {
        grid.column(report.client.name(), Align::Left);
    }
    let told = reports.iter().flat_map(|report| report.methods.iter().map(|method| (report.client, method)));
    let by_name = grouped(told.map(|(client, method)| (&*method.method, (client, method))));
    let rows = by_name.into_iter().map(|(name, told)| {
        let cell = |report: &ClientReport| {
            let method = told.iter().find(|(client, _)| *client == report.client);
            method.map_or((report.verdict, String::new()), |(_, method)| (method.verdict, attempts(method)))
        };
        (reports.iter().map(cell).collect::<Vec<_>>(), name)
    });
    for (cells, names) in grouped(rows) {
        let cells = cells.iter().map(|(verdict, attempts)| {
            let role = match verdict {
                Verdict::AsWritten => Role::Success,
                Verdict::Changed | Verdict::Unknown => Role::Timeout,
                Verdict::NoRetries => Role::Faint,
                _ => Role::Failure,
            };
            Cell::new(&format_args!("{verdict}{attempts}"), role)
        });
        let label = match &*names {
            [first, _, ..] => format!("{first} and {} more", names.len() - 1),
            names => names.concat(),
        };
        grid.push(once(Cell::from(label)).chain(cells));
    }
    grid
}

/// How many attempts there are, where the verdict alone doesn't say that.
fn attempts(method: &MethodReport) -> String {
    match &*method.attempts {
        [0 | 1] if method.verdict >= Verdict::NoRetries => String::new(),
        counts => format!(" ({})", counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}
