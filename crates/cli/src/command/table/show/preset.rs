//! `--preset`: a named configuration, and which requests it calls safe to retry.

use super::rules::Requests;
use crate::command::{print, print_json};
use crate::failure::{Failure, usage};
use crate::render::{Align, Cell, DIM, Grid, HEAD, table};
use gax_retry::http::{Preset, TransportFailure, presets};
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Debug, Serialize)]
struct Document<'a> {
    preset: &'a str,
    source: &'a str,
    waits: String,
    limits: String,
    statuses: Vec<u16>,
    transport_failures: Vec<&'static str>,
    strategy: &'static str,
    applies_retry_after: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt_timeouts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(flatten)]
    table: Requests<'a>,
}

pub(super) fn run(name: &str, for_programs: bool) -> Result<(), Failure> {
    let preset = presets::named(name).map_err(|error| usage!("{error}"))?;
    let document = document(&preset);
    if for_programs { print_json(&document) } else { print(&text(&preset, &document)) }
}

fn document(preset: &Preset) -> Document<'_> {
    let strategy = preset.backoff_strategy();
    let transport = TransportFailure::ALL.iter().filter(|kind| preset.transport_failures().contains(**kind));
    Document {
        preset: preset.name(),
        source: preset.source(),
        waits: strategy.backoff().to_string(),
        limits: strategy.limits().to_string(),
        statuses: preset.statuses().iter().collect(),
        transport_failures: transport.map(|kind| kind.as_str()).collect(),
        strategy: preset.strategy().as_str(),
        applies_retry_after: preset.applies_server_delays(),
        attempt_timeouts: strategy.attempt_timeouts().map(|timeouts| timeouts.to_string()),
        note: preset.note(),
        table: Requests::from(preset.idempotency_table()),
    }
}

fn text(preset: &Preset, document: &Document<'_>) -> String {
    let mut text = format!("{HEAD}{}{HEAD:#}\n  {DIM}{}{DIM:#}\n", document.preset, document.source);
    let nothing = |list: String| if list.is_empty() { "nothing".to_owned() } else { list };
    for (what, value) in [
        ("waits", document.waits.clone()),
        ("limits", document.limits.clone()),
        ("statuses", nothing(preset.statuses().to_string())),
        ("failures", nothing(preset.transport_failures().to_string())),
        ("strategy", document.strategy.to_owned()),
        ("Retry-After", if document.applies_retry_after { "applied" } else { "not read" }.to_owned()),
        ("paths in", nothing(document.table.prefixes.join(", "))),
    ] {
        let _infallible = writeln!(text, "  {what:<13}{value}");
    }
    let more = [("attempts", document.attempt_timeouts.as_deref()), ("note", document.note)];
    for (what, value) in more {
        if let Some(value) = value {
            let _infallible = writeln!(text, "  {what:<13}{value}");
        }
    }
    let columns = [("operation", Align::Left), ("method", Align::Left), ("path", Align::Left)];
    let [operation, method, path] = columns;
    let mut rules = Grid::new([operation, method, path, ("safe to retry", Align::Left)]);
    for (row, rule) in document.table.rules.iter().zip(preset.idempotency_table().rules()) {
        let class = rule.class().to_string();
        rules.push([row.name, row.method, &row.path, &class].map(Cell::from));
    }
    let _infallible = write!(text, "\n{}", table(&rules, 0));
    text
}
