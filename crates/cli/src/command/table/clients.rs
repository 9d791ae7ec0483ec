//! `gax table clients`: what other gRPC clients make of a table.

use crate::command::{Format, print, print_json};
use crate::failure::Failure;
use crate::input::Input;
use crate::render::table;
use clap::Args;
use gax_table::clients::{Client, ClientOptions, ClientReport, MethodReport, Script, Verdict};
use gax_text::{Align, Cell, Escaped, Grid, Role, time_text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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

    #[command(flatten)]
    flags: ClientFlags,

    /// What a server answers to a call, so that attempts are counted; may be repeated for further calls
    ///
    /// T14*3;OK is three times the status 14 without headers, then a reply. H14: after headers. R7: the stream is reset with that
    /// code. S503: an HTTP status. HANG: no answer, as after the last one. T14,p=100: with a pushback of 100 ms.
    #[arg(long, value_name = "ANSWERS", value_parser = script)]
    calls: Vec<Script>,

    /// The method that is called: pkg.Service/Method, whatever the names of the table are
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
}

/// Which clients, and how their channels were made.
#[derive(Debug, Args)]
pub(crate) struct ClientFlags {
    /// Only these clients: grpc-go, grpc-java, grpcio, grpc-js
    #[arg(long, value_name = "CLIENT,..", value_parser = client, value_delimiter = ',')]
    client: Vec<Client>,

    /// An option that the channel is given, such as `grpc.enable_retries=0`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    option: Vec<(String, String)>,
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

/// Reads a client's name.
pub(crate) fn client(text: &str) -> Result<Client, String> {
    text.trim().parse().map_err(|_| {
        format!("is not a client that is known; write {}", Client::ALL.map(Client::name).join(", "))
    })
}

fn script(text: &str) -> Result<Script, String> {
    text.parse().map_err(|_| "is no answer of a server; write such as T14*3;OK or HANG".to_owned())
}

fn option(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    pair.ok_or_else(|| "has no value; write such as grpc.enable_retries=0".to_owned())
}

pub(crate) fn run(args: &ClientsArgs) -> Result<(), Failure> {
    let input = Input::table(&args.table)?;
    let script = args.calls.iter().cloned().reduce(Script::then);
    let options = args.flags.option.iter().cloned();
    let options = options.fold(ClientOptions::default(), |options, (name, value)| options.with(name, value));
    let clients = if args.flags.client.is_empty() { &Client::ALL } else { &*args.flags.client };
    let read =
        |client: &Client| client.read(&input.content, &options, script.as_ref(), args.method.as_deref());
    let reports: Vec<ClientReport> = clients.iter().map(read).collect();
    match args.format {
        Format::Json => print_json(&json!({ "clients": reports.iter().map(data).collect::<Vec<_>>() })),
        Format::Text => {
            let is_object = input.text().trim_start().starts_with('{');
            print(&text(&input.name, is_object, &reports))
        }
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
    let mut text = String::new();
    for method in &report.methods {
        let reason = method.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let _infallible = writeln!(
            text,
            "{}",
            Escaped(format_args!("{client}, {}: {}{reason}", method.method, method.verdict))
        );
        let count = method.attempts.first().copied().unwrap_or_default();
        let delays = std::iter::once("at once".to_owned()).chain(method.delays.iter().map(|delay| {
            let nanos = i128::try_from(delay.as_nanos()).unwrap_or(i128::MAX);
            format!("{} later, x {}", time_text(nanos), client.rule("backoff.jitter"))
        }));
        for (number, delay) in (1..=count).zip(delays) {
            let _infallible = writeln!(text, "  attempt {number}: {delay}");
        }
        let codes = method.codes.join(", ");
        let limit =
            method.timeout.map_or("without a timeout".to_owned(), |timeout| format!("timeout {timeout:?}"));
        let _infallible = writeln!(
            text,
            "  {limit}; the next attempt follows {}",
            if codes.is_empty() { "no code" } else { &codes }
        );
    }
    if report.methods.is_empty() {
        let reason = report.reason.as_deref().unwrap_or("the table has no such method");
        text = format!("{client}: {}: {}\n", report.verdict, Escaped(reason));
    }
    print(&text)
}

/// A report for programs.
fn data(report: &ClientReport) -> Value {
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
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

fn text(file: &str, is_object: bool, reports: &[ClientReport]) -> String {
    let unreadable =
        |report: &ClientReport| report.verdict >= Verdict::RefusedPerCall && report.methods.is_empty();
    if let Some(first) = reports.first().filter(|_| !is_object && reports.iter().all(unreadable)) {
        let place = first
            .deviations
            .first()
            .map_or(String::new(), |known| format!(":{}:{}", known.origin.line(), known.origin.column()));
        return format!(
            "{}{place}: none of these clients can read the file, which is not JSON; write it with gax table convert --to grpc\n",
            Escaped(file)
        );
    }
    let mut text = String::new();
    for report in reports {
        let code = report.code.map(|code| format!(" ({code})")).unwrap_or_default();
        let reason = report.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let _infallible = writeln!(text, "{}: {}{code}{}", report.client, report.verdict, Escaped(&reason));
    }
    let mut grid = Grid::new([("METHOD", Align::Left)]);
    for report in reports {
        grid.column(report.client.name(), Align::Left);
    }
    for (name, cells) in rows(reports) {
        grid.push([Cell::from(name)].into_iter().chain(cells));
    }
    let _infallible = write!(text, "\n{}", table(&grid, 0));
    // What several clients do alike is said once.
    let mut said: BTreeMap<(usize, usize, &str, &str), Vec<&str>> = BTreeMap::new();
    for report in reports {
        for known in &report.deviations {
            let place =
                (known.origin.line(), known.origin.column(), known.message.as_str(), known.help.as_str());
            said.entry(place).or_default().push(report.client.name());
        }
    }
    if !said.is_empty() {
        text.push('\n');
    }
    for ((line, column, message, help), clients) in said {
        let sentence = format!("{file}:{line}:{column}: {}: {message}; {help}", clients.join(", "));
        let _infallible = writeln!(text, "{}", Escaped(&sentence));
    }
    text
}

/// The cells of each name; names with the same cells are one row.
fn rows(reports: &[ClientReport]) -> Vec<(String, Vec<Cell>)> {
    let mut names: Vec<&str> = Vec::new();
    for method in reports.iter().flat_map(|report| &report.methods) {
        if !names.contains(&method.method.as_str()) {
            names.push(&method.method);
        }
    }
    let mut rows: Vec<(Vec<&str>, Vec<String>, Vec<Cell>)> = Vec::new();
    for name in names {
        let of = |report: &ClientReport| {
            let method = report.methods.iter().find(|method| method.method == name);
            let verdict = method.map_or(report.verdict, |method| method.verdict);
            let attempts = method.map(attempts).unwrap_or_default();
            let role = match verdict {
                Verdict::AsWritten => Role::Success,
                Verdict::Changed | Verdict::Unknown => Role::Timeout,
                Verdict::NoRetries => Role::Faint,
                _ => Role::Failure,
            };
            (format!("{verdict}{attempts}"), role)
        };
        let cells: Vec<_> = reports.iter().map(of).collect();
        let texts: Vec<String> = cells.iter().map(|(text, _)| text.clone()).collect();
        match rows.iter_mut().find(|(_, known, _)| *known == texts) {
            Some((names, ..)) => names.push(name),
            None => rows.push((
                vec![name],
                texts,
                cells.iter().map(|(text, role)| Cell::new(text, *role)).collect(),
            )),
        }
    }
    let label = |names: Vec<&str>| match &*names {
        [first, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", rest.len()),
        names => names.join(""),
    };
    rows.into_iter().map(|(names, _, cells)| (label(names), cells)).collect()
}

fn attempts(method: &MethodReport) -> String {
    match &*method.attempts {
        [] | [1] if method.verdict == Verdict::NoRetries => String::new(),
        [] | [0] => String::new(),
        counts => format!(" ({})", counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}
