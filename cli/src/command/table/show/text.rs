//! Methods for people.

use crate::command::table::beside::Beside;
use crate::command::table::methods::{MethodRow, codes_text, line_of, short_place};
use crate::render::{Align, Cell, DIM, Grid, HEAD, Human, Role, bytes, grown, table};
use gax_retry::__private::Escaped;
use gax_retry::{Impact, RetrySettings};
use gax_table::{Dialect, MethodPolicy, PolicyField, RetryTable};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

/// How many starts of attempts are written out.
const SHOWN: usize = 8;

pub(super) fn render(rows: &[MethodRow<'_>], table: &RetryTable) -> String {
    let dialect = table.dialect();
    let mut text = String::new();
    for group in groups(rows, table) {
        let [first, ..] = group.as_slice() else { continue };
        for row in &group {
            let _infallible = writeln!(text, "{HEAD}{}{HEAD:#}", Escaped(row.name()));
        }
        match first.policy {
            None => {
                text.push_str("  the table has nothing: calls go through as they are, without a deadline\n");
            }
            Some(policy) => {
                let place = policy.origin().map(short_place).unwrap_or_default();
                let key = Escaped(policy.params_key());
                let _infallible = writeln!(text, "  {DIM}{key} at {}{DIM:#}", Escaped(place));
                method(&mut text, policy, dialect);
                if let Some(impact) = first.impact(dialect) {
                    let _infallible = writeln!(text, "  {}", refused(&impact));
                }
            }
        }
        for sentence in first.beside(table).sentences() {
            let _infallible = writeln!(text, "  {sentence}");
        }
        text.push('\n');
    }
    text
}

/// Methods of which the table says the same, together.
fn groups<'r, 't>(rows: &'r [MethodRow<'t>], table: &RetryTable) -> Vec<Vec<&'r MethodRow<'t>>> {
    let mut groups: Vec<Vec<&MethodRow<'_>>> = Vec::new();
    // Per entry its groups: what stands beside it, and the group's number.
    let mut of_entries: HashMap<Option<usize>, Vec<(Beside, usize)>> = HashMap::new();
    for row in rows {
        let beside = row.beside(table);
        let of_entry = of_entries.entry(row.policy.as_ref().and_then(MethodPolicy::entry)).or_default();
        let known = of_entry.iter().find(|(other, _)| *other == beside).map(|(_, number)| *number);
        if let Some(group) = known.and_then(|number| groups.get_mut(number)) {
            group.push(row);
        } else {
            of_entry.push((beside, groups.len()));
            groups.push(vec![row]);
        }
    }
    groups
}

fn method(text: &mut String, policy: MethodPolicy<'_>, dialect: Dialect) {
    let settings = policy.settings();
    let rows = [
        ("codes", codes_text(policy.codes()), PolicyField::RetryableCodes),
        ("total timeout", limit(settings.total_timeout()), PolicyField::TotalTimeout),
        ("RPC timeout", rpc_timeout(settings), PolicyField::InitialRpcTimeout),
        ("delay", delay(policy, dialect), PolicyField::InitialRetryDelay),
        (
            "attempts",
            settings.max_attempts().map_or_else(|| "no limit".to_owned(), |count| count.to_string()),
            PolicyField::MaxAttempts,
        ),
    ];
    let mut settings = Grid::new([("setting", Align::Left), ("value", Align::Left), ("from", Align::Left)]);
    for (name, value, field) in rows {
        settings.push([Cell::from(name), Cell::from(value), Cell::new(&line_of(policy, field), Role::Faint)]);
    }
    for (name, value) in without_effect(policy) {
        settings.push([Cell::from(name), Cell::from(value)]);
    }
    text.push_str(&table(&settings, 2));
}

/// What nothing here acts on.
fn without_effect(policy: MethodPolicy<'_>) -> Vec<(&'static str, String)> {
    let hedging = policy.hedging().map(|hedging| {
        let attempts =
            hedging.max_attempts().map_or_else(|| "any number of".to_owned(), |most| most.to_string());
        let codes = codes_text(hedging.non_fatal_codes());
        format!("{attempts} attempts, {} apart, after {codes}", Human(hedging.delay()))
    });
    let ready = policy.wait_for_ready().map(|wait| if wait { "yes" } else { "no" }.to_owned());
    let size = |what: &str, count: Option<u64>| count.map(|count| format!("{what} up to {}", bytes(count)));
    let requests = size("requests", policy.max_request_message_bytes());
    let sizes: Vec<String> =
        requests.into_iter().chain(size("responses", policy.max_response_message_bytes())).collect();
    let sizes = Some(sizes.join(", ")).filter(|sizes| !sizes.is_empty());
    let rows = [("hedging", hedging), ("wait for ready", ready), ("message sizes", sizes)];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

pub(crate) fn limit(time: Option<Duration>) -> String {
    time.map_or_else(|| "none".to_owned(), |time| format!("{:#}", Human(time)))
}

pub(crate) fn rpc_timeout(settings: &RetrySettings) -> String {
    match settings.initial_rpc_timeout() {
        None => "what is left of the total".to_owned(),
        Some(initial) => grown(initial, settings.rpc_timeout_multiplier(), settings.max_rpc_timeout()),
    }
}

pub(crate) fn delay(policy: MethodPolicy<'_>, dialect: Dialect) -> String {
    let settings = policy.settings();
    let delays = settings.retry_delays(dialect.compatibility());
    let is_pointless = policy.codes().is_empty() && settings.initial_retry_delay().is_none();
    if is_pointless || delays.initial().is_zero() {
        return "none".to_owned();
    }
    let jitter = if settings.jittered() { ", jittered" } else { "" };
    grown(delays.initial(), delays.multiplier(), delays.max()) + jitter
}

/// The attempt table in one line.
pub(crate) fn refused(impact: &Impact) -> String {
    let starts: Vec<String> =
        impact.refused().iter().take(SHOWN).map(|start| Human(*start).to_string()).collect();
    let count = impact.refused().len();
    if count == 1 {
        return "one attempt, whatever happens".to_owned();
    }
    let more = if count > SHOWN { ", .." } else { "" };
    let count = if impact.is_truncated() { format!("more than {count}") } else { count.to_string() };
    format!(
        "if each is refused at once, {count} attempts start, without jitter at {}{more}",
        starts.join(", ")
    )
}
