//! Methods for people.

use crate::command::table::hedged::Hedged;
use crate::command::table::methods::{MethodRow, codes_text, line_of, short_place};
use crate::failure::Failure;
use crate::render::{Align, Cell, DIM, Grid, HEAD, Human, Role, bytes, grown, table};
use gax_retry::{AttemptPlan, NoJitter, RetrySettings};
use gax_table::{Dialect, MethodPolicy, PolicyField, RetryTable};
use gax_text::Escaped;
use std::collections::HashMap;
use std::io::Write;
use std::iter;
use std::time::Duration;

/// How many starts of attempts are written out.
const SHOWN: usize = 8;

/// Writes the methods, those of which the table says the same together.
pub(super) fn render(rows: &[MethodRow<'_>], table: &RetryTable, out: &mut dyn Write) -> Result<(), Failure> {
    let dialect = table.dialect();
    for group in groups(rows, table) {
        let mut of_group = group.iter().filter_map(|row| rows.get(*row)).peekable();
        let Some(first) = of_group.peek().copied() else { continue };
        for row in of_group {
            writeln!(out, "{HEAD}{}{HEAD:#}", Escaped(row.name()))?;
        }
        match first.policy {
            None => {
                writeln!(out, "  the table has nothing: calls go through as they are, without a deadline")?;
            }
            Some(policy) => {
                let place = policy.origin().map(short_place).unwrap_or_default();
                let key = Escaped(policy.params_key());
                writeln!(out, "  {DIM}{key} at {}{DIM:#}", Escaped(place))?;
                write!(out, "{}", method(policy, dialect))?;
                if let Some(policy) = first.to_policy(dialect) {
                    writeln!(out, "  {}", refused(&AttemptPlan::refused(&policy, &mut NoJitter)))?;
                }
            }
        }
        for sentence in first.beside(table).sentences() {
            writeln!(out, "  {sentence}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The places of methods of which the table says the same, together.
fn groups(rows: &[MethodRow<'_>], table: &RetryTable) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // Per entry, and what stands beside it, the number of the group.
    let mut numbers: HashMap<(Option<usize>, u64), usize> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        let key = (row.policy.and_then(|policy| policy.entry()), row.beside(table).hashed());
        let number = *numbers.entry(key).or_insert(groups.len());
        match groups.get_mut(number) {
            Some(group) => group.push(place),
            None => groups.push(Vec::from([place])),
        }
    }
    groups
}

fn method(policy: MethodPolicy<'_>, dialect: Dialect) -> String {
    let settings = policy.settings();
    let (total, rpc) = (limit(settings.total_timeout()), rpc_timeout(settings));
    let limits = [
        ("total timeout", total, PolicyField::TotalTimeout),
        ("RPC timeout", rpc, PolicyField::InitialRpcTimeout),
    ];
    // What is hedged is not retried.
    let (before, after) = if let Some(hedging) = policy.hedging() {
        (("hedging", Hedged::from(hedging).words().to_owned(), PolicyField::Hedging), None)
    } else {
        let most = settings.max_attempts();
        let most = most.map_or_else(|| "no limit".to_owned(), |count| count.to_string());
        let delay = ("delay", delay(policy, dialect), PolicyField::InitialRetryDelay);
        let codes = ("codes", codes_text(policy.codes()), PolicyField::RetryableCodes);
        (codes, Some([delay, ("attempts", most, PolicyField::MaxAttempts)]))
    };
    let rows = iter::once(before).chain(limits).chain(after.into_iter().flatten());
    let mut settings = Grid::new([("setting", Align::Left), ("value", Align::Left), ("from", Align::Left)]);
    for (name, value, field) in rows {
        settings.push([Cell::from(name), Cell::from(value), Cell::new(&line_of(policy, field), Role::Faint)]);
    }
    for (name, value) in others(policy) {
        settings.push([Cell::from(name), Cell::from(value)]);
    }
    table(&settings, 2)
}

/// Settings without a line of their own, and those that nothing here acts on.
fn others(policy: MethodPolicy<'_>) -> Vec<(&'static str, String)> {
    let ready = policy.wait_for_ready().map(|wait| if wait { "yes" } else { "no" }.to_owned());
    let size = |what: &str, count: Option<u64>| count.map(|count| format!("{what} up to {}", bytes(count)));
    let requests = size("requests", policy.max_request_message_bytes());
    let sizes: Vec<String> =
        requests.into_iter().chain(size("responses", policy.max_response_message_bytes())).collect();
    let sizes = Some(sizes.join(", ")).filter(|sizes| !sizes.is_empty());
    let only = policy.settings().only_with_server_delay();
    let only = Some(only.to_string()).filter(|_| !only.is_empty());
    let rows = [("only if delayed", only), ("wait for ready", ready), ("message sizes", sizes)];
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
fn refused(plan: &AttemptPlan) -> String {
    let starts = plan.attempts().iter().take(SHOWN).map(|attempt| Human(attempt.start()).to_string());
    let starts: Vec<String> = starts.collect();
    let count = plan.attempts().len();
    if count == 1 {
        return "one attempt, whatever happens".to_owned();
    }
    let more = if count > SHOWN { ", .." } else { "" };
    let count = if plan.is_truncated() { format!("more than {count}") } else { count.to_string() };
    format!(
        "if each is refused at once, {count} attempts start, without jitter at {}{more}",
        starts.join(", ")
    )
}
