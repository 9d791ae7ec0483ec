//! The first difference between a record and what the engine did.

use super::record::{Denied, Record, Row};
use gax_text::Escaped;
use serde::Serialize;
use std::fmt::{self, Display};

/// A value that is not the recorded one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// The place in the case, such as `expected.attempts[1].end_us`.
    pub(crate) place: String,
    /// The recorded value.
    pub(crate) expected: String,
    /// The value that came out instead.
    pub(crate) got: String,
}

impl Difference {
    pub(super) fn new(place: impl Into<String>, expected: impl Display, got: impl Display) -> Self {
        Self { place: place.into(), expected: expected.to_string(), got: got.to_string() }
    }
}

impl Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, expected, got } = self;
        write!(f, "{place} is {} in the record, but {got} here", Escaped(expected))
    }
}

/// How much of the record counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it, and whether an attempt was refused: records of the bare algorithm have that.
    Whole,
    /// All of it: many records of a client's operations don't have the refused attempt.
    Attempts,
    /// All but the refused attempt and the sign of timeouts that are none: where a call is recorded to
    /// go the `"same"` as the algorithm alone, that is what it is the same in.
    AsCalled,
}

/// Compares field by field; the rows first, since what differs there explains the rest.
pub(super) fn difference(
    place: &str,
    expected: Option<&Record>,
    got: Option<&Record>,
    extent: Extent,
) -> Option<Difference> {
    let (expected, got) = match (expected, got) {
        (Some(expected), Some(got)) => (expected, got),
        (None, None) => return None,
        (expected, got) => return Some(Difference::new(place, ended(expected), ended(got))),
    };
    let rows = expected.attempts.iter().zip(&got.attempts).enumerate();
    let found = rows.into_iter().find_map(|(index, (left, right))| {
        first(&format!("{place}.attempts[{index}]"), row(left, extent), row(right, extent))
    });
    let fields = |record: &Record| -> [Field; 4] {
        [
            ("attempts.length", Some(record.attempts.len().to_string())),
            ("end", Some(record.end.clone())),
            ("final_code", Some(record.final_code.clone().unwrap_or_else(|| "null".to_owned()))),
            ("end_us", Some(record.end_us.to_string())),
        ]
    };
    let found = found.or_else(|| first(place, fields(expected), fields(got)));
    let found = found.or_else(|| match extent {
        Extent::Whole => refused(place, expected.denied_next.as_ref(), got.denied_next.as_ref()),
        Extent::Attempts | Extent::AsCalled => {
            let denied = expected.denied_next.as_ref().filter(|_| extent == Extent::Attempts)?;
            // A client computes none where retries are off.
            let computed = got.denied_next.as_ref()?;
            refused(place, Some(denied), Some(computed))
        }
    });
    found.or_else(|| tracer(place, expected.tracer.as_ref()?, got.tracer.as_ref()?))
}

/// The first call of the tracer that differs.
fn tracer(place: &str, expected: &[String], got: &[String]) -> Option<Difference> {
    let call = |calls: &[String], index: usize| calls.get(index).map_or("no call", |call| call).to_owned();
    let index = (0..expected.len().max(got.len())).find(|index| expected.get(*index) != got.get(*index))?;
    Some(Difference::new(format!("{place}.tracer[{index}]"), call(expected, index), call(got, index)))
}

fn ended(record: Option<&Record>) -> &'static str {
    if record.is_some() { "an operation that ends" } else { "null (an attempt that never ends)" }
}

/// A row by the names of its fields; `None`: it isn't known.
fn row(row: &Row, extent: Extent) -> [Field; 8] {
    let number = |number: i128| Some(number.to_string());
    let timeout = row.rpc_timeout_us;
    [
        ("attempt", number(row.attempt)),
        ("attempt_count", row.attempt_count.and_then(number)),
        ("overall_attempt_count", row.overall_attempt_count.and_then(number)),
        ("retry_delay_us", number(row.retry_delay_us)),
        ("rpc_timeout_us", number(if extent == Extent::AsCalled { timeout.max(0) } else { timeout })),
        ("start_us", number(row.start_us)),
        ("end_us", number(row.end_us)),
        ("outcome", Some(row.outcome.clone())),
    ]
}

fn refused(place: &str, expected: Option<&Denied>, got: Option<&Denied>) -> Option<Difference> {
    let place = format!("{place}.denied_next");
    if expected.is_some() != got.is_some() {
        let text = |denied: Option<&Denied>| {
            denied.map_or("no refused attempt".to_owned(), |denied| format!("attempt {}", denied.attempt))
        };
        return Some(Difference::new(place, text(expected), text(got)));
    }
    let fields = |denied: &Denied| -> [Field; 3] {
        [
            ("attempt", Some(denied.attempt.to_string())),
            ("retry_delay_us", Some(denied.retry_delay_us.to_string())),
            ("rpc_timeout_us", denied.rpc_timeout_us.map(|timeout| timeout.to_string())),
        ]
    };
    first(&place, fields(expected?), fields(got?))
}

/// A value by its name; `None`: it isn't known, and not compared.
type Field = (&'static str, Option<String>);

/// The first value that differs.
fn first<const N: usize>(place: &str, expected: [Field; N], got: [Field; N]) -> Option<Difference> {
    expected.into_iter().zip(got).find_map(|((name, expected), (_, got))| {
        let (expected, got) = expected.zip(got)?;
        (expected != got).then(|| Difference::new(format!("{place}.{name}"), expected, got))
    })
}
