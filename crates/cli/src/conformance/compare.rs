//! The first difference between a record and what the engine did.

use super::record::{Denied, Record, Row};
use std::fmt::Display;

/// A value that is not the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    for (index, (left, right)) in expected.attempts.iter().zip(&got.attempts).enumerate() {
        let found = row(&format!("{place}.attempts[{index}]"), left, right, extent);
        if found.is_some() {
            return found;
        }
    }
    let mut fields = Comparison::new(place);
    fields.compare("attempts.length", expected.attempts.len(), got.attempts.len());
    fields.compare("end", &expected.end, &got.end);
    fields.compare("final_code", code(expected), code(got));
    fields.compare("end_us", expected.end_us, got.end_us);
    let found = fields.found.or_else(|| match extent {
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

fn code(record: &Record) -> &str {
    record.final_code.as_deref().unwrap_or("null")
}

fn row(place: &str, expected: &Row, got: &Row, extent: Extent) -> Option<Difference> {
    let timeout = |row: &Row| match extent {
        Extent::Whole | Extent::Attempts => row.rpc_timeout_us,
        Extent::AsCalled => row.rpc_timeout_us.max(0),
    };
    let mut fields = Comparison::new(place);
    fields.compare("attempt", expected.attempt, got.attempt);
    if let (Some(expected), Some(got)) = (expected.attempt_count, got.attempt_count) {
        fields.compare("attempt_count", expected, got);
    }
    if let (Some(expected), Some(got)) = (expected.overall_attempt_count, got.overall_attempt_count) {
        fields.compare("overall_attempt_count", expected, got);
    }
    fields.compare("retry_delay_us", expected.retry_delay_us, got.retry_delay_us);
    fields.compare("rpc_timeout_us", timeout(expected), timeout(got));
    fields.compare("start_us", expected.start_us, got.start_us);
    fields.compare("end_us", expected.end_us, got.end_us);
    fields.compare("outcome", &expected.outcome, &got.outcome);
    fields.found
}

fn refused(place: &str, expected: Option<&Denied>, got: Option<&Denied>) -> Option<Difference> {
    let place = format!("{place}.denied_next");
    let (Some(expected), Some(got)) = (expected, got) else {
        let text = |denied: Option<&Denied>| {
            denied.map_or("no refused attempt".to_owned(), |denied| format!("attempt {}", denied.attempt))
        };
        return (expected.is_some() != got.is_some())
            .then(|| Difference::new(place, text(expected), text(got)));
    };
    let mut fields = Comparison::new(&place);
    fields.compare("attempt", expected.attempt, got.attempt);
    fields.compare("retry_delay_us", expected.retry_delay_us, got.retry_delay_us);
    if let (Some(expected), Some(got)) = (expected.rpc_timeout_us, got.rpc_timeout_us) {
        fields.compare("rpc_timeout_us", expected, got);
    }
    fields.found
}

/// Keeps the first difference of several fields.
struct Comparison<'a> {
    place: &'a str,
    found: Option<Difference>,
}

impl<'a> Comparison<'a> {
    fn new(place: &'a str) -> Self {
        Self { place, found: None }
    }

    fn compare<T: PartialEq + Display>(&mut self, field: &str, expected: T, got: T) {
        if self.found.is_none() && expected != got {
            self.found = Some(Difference::new(format!("{}.{field}", self.place), expected, got));
        }
    }
}
