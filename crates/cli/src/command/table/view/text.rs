//! A method for people.

use super::method_view::MethodView;
use super::words::{codes_text, count_limit, delay, hedging, limit, line_of, rpc_timeout, short_place};
use crate::render::{Align, Cell, DIM, Grid, Human, Role, bytes, table};
use gax_retry::{AttemptPlan, NoJitter};
use gax_table::{Dialect, MethodPolicy, PolicyField};
use gax_text::Escaped;
use std::fmt;
use std::time::Duration;

/// How many starts of attempts are written out.
const SHOWN: usize = 8;

impl fmt::Display for MethodView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.policy.zip(self.to_policy()) {
            None => {
                writeln!(f, "  no entry: calls pass through unchanged, without a deadline")?;
            }
            Some((policy, plan)) => {
                let place = policy.origin().map(short_place).unwrap_or_default();
                let key = Escaped(policy.params_key());
                writeln!(f, "  {DIM}{key} at {}{DIM:#}", Escaped(place))?;
                f.write_str(&table(&settings(policy, self.table.dialect()), 2))?;
                writeln!(f, "  {}", refused(&AttemptPlan::refused(&plan, &mut NoJitter)))?;
            }
        }
        for sentence in self.sentences() {
            writeln!(f, "  {sentence}")?;
        }
        Ok(())
    }
}

/// A table of settings without a row so far.
pub(crate) fn settings_table() -> Grid {
    Grid::new([("setting", Align::Left), ("value", Align::Left), ("from", Align::Left)])
}

fn settings(policy: MethodPolicy<'_>, dialect: Dialect) -> Grid {
    let settings = policy.settings();
    let mut rows = vec![
        ("total timeout", limit(settings.total_timeout()), PolicyField::TotalTimeout),
        ("RPC timeout", rpc_timeout(settings), PolicyField::InitialRpcTimeout),
    ];
    // A hedged call is not retried.
    if let Some(policy) = policy.hedging() {
        rows.insert(0, ("hedging", hedging(policy), PolicyField::Hedging));
    } else {
        let most = count_limit(settings.max_attempts());
        rows.insert(0, ("codes", codes_text(policy.codes()), PolicyField::RetryableCodes));
        rows.push(("delay", delay(policy, dialect), PolicyField::InitialRetryDelay));
        rows.push(("attempts", most, PolicyField::MaxAttempts));
    }
    let mut table = settings_table();
    for (name, value, field) in rows {
        table.push([Cell::from(name), Cell::from(value), Cell::new(&line_of(policy, field), Role::Faint)]);
    }
    for (name, value) in others(policy) {
        table.push([Cell::from(name), Cell::from(value)]);
    }
    table
}

/// Settings without a line of their own, and those that nothing here acts on.
fn others(policy: MethodPolicy<'_>) -> impl Iterator<Item = (&'static str, String)> {
    let ready = policy.wait_for_ready().map(|wait| if wait { "yes" } else { "no" }.to_owned());
    let time = |time: Option<Duration>| time.map(|time| limit(Some(time)));
    let size = |what: &str, count: Option<u64>| count.map(|count| format!("{what} up to {}", bytes(count)));
    let requests = size("requests", policy.max_request_message_bytes());
    let sizes: Vec<String> =
        requests.into_iter().chain(size("responses", policy.max_response_message_bytes())).collect();
    let sizes = Some(sizes.join(", ")).filter(|sizes| !sizes.is_empty());
    let only = policy.settings().only_with_server_delay();
    let only = Some(only.to_string()).filter(|_| !only.is_empty());
    let rows = [
        ("only if delayed", only),
        ("wait for ready", ready),
        ("wait timeout", time(policy.wait_timeout())),
        ("idle timeout", time(policy.idle_timeout())),
        ("message sizes", sizes),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// The attempt table in one line.
pub(super) fn refused(plan: &AttemptPlan) -> String {
    let starts = plan.attempts().iter().take(SHOWN).map(|attempt| Human(attempt.start()).to_string());
    let starts: Vec<String> = starts.collect();
    let count = plan.attempts().len();
    if count == 1 {
        return "always one attempt".to_owned();
    }
    let more = if count > SHOWN { ", .." } else { "" };
    let count = if plan.is_truncated() { format!("more than {count}") } else { count.to_string() };
    format!(
        "if each is refused at once, {count} attempts start, without jitter at {}{more}",
        starts.join(", ")
    )
}
