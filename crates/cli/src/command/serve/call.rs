//! A call as the server saw it.

use crate::render::{Align, Cell, Grid, Ms, table};
use gax_testing::Arrival;
use gax_text::Escaped;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// A call, and what is wrong with it.
#[derive(Debug, Serialize)]
pub(super) struct Call {
    #[serde(rename = "call")]
    number: usize,
    pub(super) method: String,
    pub(super) attempts: Vec<Seen>,
    pub(super) differences: Vec<String>,
}

/// An attempt.
#[derive(Debug, Serialize)]
pub(in crate::command) struct Seen {
    pub(in crate::command) attempt: usize,
    pub(super) at_ms: Ms,
    /// The time since the last attempt's end, or since its arrival if that has not ended.
    pub(in crate::command) gap_ms: Option<Ms>,
    pub(super) grpc_timeout: Option<String>,
    pub(in crate::command) previous_attempts: Option<usize>,
    pub(super) reply: String,
    pub(super) end_ms: Option<Ms>,
    pub(super) cancelled: bool,
    pub(super) expected_gap_ms: Option<(Ms, Ms)>,
}

impl Seen {
    /// An attempt, with the one before it.
    pub(super) fn new(arrival: &Arrival, last: Option<&Arrival>) -> Self {
        let since = |last: &Arrival| {
            let end = last.replied.or(last.gone).filter(|end| *end <= arrival.at);
            Ms(arrival.at.saturating_sub(end.unwrap_or(last.at)))
        };
        Self {
            attempt: arrival.attempt + 1,
            at_ms: Ms(arrival.at),
            gap_ms: last.map(since),
            grpc_timeout: arrival.grpc_timeout().map(str::to_owned),
            previous_attempts: arrival.previous_attempts(),
            reply: arrival.step.to_string(),
            end_ms: arrival.replied.or(arrival.gone).map(Ms),
            cancelled: arrival.gone.is_some(),
            expected_gap_ms: None,
        }
    }

    /// The attempts of a call, each with the one before it.
    pub(in crate::command) fn all(arrivals: &[&Arrival]) -> Vec<Self> {
        let lasts = [None].into_iter().chain(arrivals.iter().copied().map(Some));
        arrivals.iter().zip(lasts).map(|(arrival, last)| Self::new(arrival, last)).collect()
    }

    /// The line for it while the server runs.
    pub(super) fn line(&self, call: usize, method: &str) -> String {
        let (at, attempt, method) = (self.at_ms, self.attempt, Escaped(method));
        if let (true, Some(end)) = (self.cancelled, self.end_ms) {
            return format!("{end:>9}  call {call}, attempt {attempt} is cancelled\n");
        }
        let gap = self.gap_ms.map(|gap| format!(", {gap} after the last")).unwrap_or_default();
        let timeout = Escaped(self.grpc_timeout.as_deref().unwrap_or("none"));
        let previous = self.previous_attempts.map_or_else(|| "none".to_owned(), |count| count.to_string());
        format!(
            "{at:>9}  call {call}, attempt {attempt} of {method}{gap}: grpc-timeout {timeout}, previous attempts \
             {previous}; gets {}\n",
            self.reply
        )
    }
}

/// The calls of these arrivals, in their order.
pub(super) fn calls(arrivals: &[Arrival]) -> Vec<Vec<&Arrival>> {
    let mut calls: Vec<Vec<&Arrival>> = Vec::new();
    for arrival in arrivals {
        calls.resize_with(calls.len().max(arrival.call + 1), Vec::new);
        if let Some(call) = calls.get_mut(arrival.call) {
            call.push(arrival);
        }
    }
    calls
}

impl Call {
    pub(super) fn of(arrivals: &[&Arrival]) -> Self {
        let (number, method) = arrivals.first().map_or((0, ""), |first| (first.call, first.path.as_str()));
        Self {
            number: number + 1,
            method: method.trim_start_matches('/').to_owned(),
            attempts: Seen::all(arrivals),
            differences: Vec::new(),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut grid = Grid::new([
            ("attempt", Align::Right),
            ("arrived", Align::Right),
            ("gap", Align::Left),
            ("grpc-timeout", Align::Right),
            ("previous", Align::Right),
            ("gets", Align::Left),
            ("ended", Align::Right),
        ]);
        let none = || Cell::from("");
        for seen in &self.attempts {
            let expected =
                seen.expected_gap_ms.map(|(low, high)| format!(", by the table {}", between(low.0, high.0)));
            let cancelled = if seen.cancelled { ", cancelled" } else { "" };
            grid.push([
                Cell::from(seen.attempt),
                Cell::from(seen.at_ms),
                seen.gap_ms
                    .map_or_else(none, |gap| Cell::from(format!("{gap}{}", expected.unwrap_or_default()))),
                seen.grpc_timeout.as_deref().map_or_else(none, |text| Cell::from(Escaped(text).to_string())),
                seen.previous_attempts.map_or_else(none, Cell::from),
                Cell::from(format!("{}{cancelled}", seen.reply)),
                seen.end_ms.map_or_else(|| Cell::from("never"), Cell::from),
            ]);
        }
        writeln!(f, "\nCall {} of {}\n{}", self.number, Escaped(&self.method), table(&grid, 0).trim_end())?;
        self.differences.iter().try_for_each(|difference| writeln!(f, "differs: {difference}"))
    }
}

/// Times as a comparison says them.
pub(in crate::command) fn between(low: Duration, high: Duration) -> String {
    if low == high { Ms(low).to_string() } else { format!("{} to {}", Ms(low), Ms(high)) }
}
