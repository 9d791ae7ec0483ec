//! The one grammar of durations that people write: `1500ms`, `1.5s`, `2m`, `1h30m`.
//!
//! Flags of the command and tables in TOML have it. A gRPC service config has protobuf's own form.

use std::time::Duration;

const ADVICE: &str = "write a duration such as 1500ms, 1.5s, 2m or 1h30m";

/// The problem of a text that should be a duration, to follow the text itself, and the advice.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "both parts are printed")]
pub struct DurationError {
    /// `has no unit after 5`
    pub problem: String,
    /// `write a duration such as 1500ms, ..`
    pub help: &'static str,
}

crate::error_text! { DurationError { problem, help }, "{problem}; {help}" }

/// Each unit with its nanoseconds, the longest first.
const UNITS: [(&str, u64); 9] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Reads one or more numbers with units, the longest unit first, exactly: no floating point, nothing rounded. There
/// may be spaces between them, and `0` without a unit is a duration too. The longest is 2^64 - 1 nanoseconds.
///
/// # Errors
///
/// The text is not a duration; the error says why not.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    u64::try_from(parse_nanos(text)?).map(Duration::from_nanos).map_err(|_| too_long())
}

/// Like [`parse_duration`], in nanoseconds, however long.
///
/// # Errors
///
/// The text is not a duration; the error says why not.
pub fn parse_nanos(text: &str) -> Result<u128, DurationError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong("is empty"));
    }
    if rest.starts_with('-') {
        return Err(wrong("is negative"));
    }
    if rest == "0" {
        return Ok(0);
    }
    let mut total: u128 = 0;
    let mut shortest = u64::MAX;
    while !rest.is_empty() {
        let part = Part::first_of(rest)?;
        if part.scale >= shortest {
            return Err(wrong(format!("has {} after a unit that is no longer", part.unit)));
        }
        total = total.checked_add(part.nanos).ok_or_else(too_long)?;
        shortest = part.scale;
        rest = part.rest.trim_start();
    }
    Ok(total)
}

/// A time in the shortest exact form with one unit: whole seconds, milliseconds, microseconds or
/// nanoseconds.
#[must_use]
pub fn time_text(nanos: i128) -> String {
    const UNITS: [(&str, i128); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)];
    let (unit, size) = UNITS.into_iter().find(|(_, size)| nanos % size == 0).unwrap_or(("ns", 1));
    format!("{}{unit}", nanos / size)
}

/// A number with its unit, and the text after them.
struct Part<'a> {
    unit: &'a str,
    scale: u64,
    nanos: u128,
    rest: &'a str,
}

impl<'a> Part<'a> {
    fn first_of(text: &'a str) -> Result<Self, DurationError> {
        let (number, rest) = split(text, |c| c.is_ascii_digit() || c == '.');
        let (unit, rest) = split(rest.trim_start(), char::is_alphabetic);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return Err(wrong("is not a duration"));
        }
        if unit.is_empty() {
            return Err(wrong(format!("has no unit after {number}")));
        }
        let Some((_, scale)) = UNITS.into_iter().find(|(name, _)| *name == unit) else {
            return Err(wrong(format!("has the unknown unit {unit} (known are ns, us, ms, s, m, h and d)")));
        };
        let whole = if whole.is_empty() { 0 } else { whole.parse::<u128>().map_err(|_| too_long())? };
        let nanos = whole.checked_mul(u128::from(scale)).ok_or_else(too_long)?;
        let nanos = nanos.checked_add(fraction_of(fraction, scale)?).ok_or_else(too_long)?;
        Ok(Self { unit, scale, nanos, rest })
    }
}

/// The nanoseconds that the digits after the point stand for.
fn fraction_of(digits: &str, scale: u64) -> Result<u128, DurationError> {
    let too_fine = || DurationError {
        problem: "is finer than a nanosecond, the smallest step there is".to_owned(),
        help: "drop the last digits",
    };
    let digits = digits.trim_end_matches('0');
    let mut nanos: u128 = 0;
    let mut place: u128 = 1;
    for digit in digits.chars() {
        nanos = nanos
            .checked_mul(10)
            .and_then(|nanos| nanos.checked_add(u128::from(digit.to_digit(10)?) * u128::from(scale)))
            .ok_or_else(too_fine)?;
        place = place.checked_mul(10).ok_or_else(too_fine)?;
    }
    if nanos.is_multiple_of(place) { Ok(nanos / place) } else { Err(too_fine()) }
}

fn wrong(problem: impl Into<String>) -> DurationError {
    DurationError { problem: problem.into(), help: ADVICE }
}

fn too_long() -> DurationError {
    DurationError {
        problem: "is too long".to_owned(),
        help: "the longest duration is 18446744073s, about 584 years",
    }
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_exactly() {
        let ms = Duration::from_millis;
        for (text, expected) in [
            ("1500ms", ms(1500)),
            ("1.5s", ms(1500)),
            ("0.1s", ms(100)),
            (".5s", ms(500)),
            ("2m", ms(120_000)),
            ("2min", ms(120_000)),
            ("1h30m", ms(5_400_000)),
            ("1h 30m", ms(5_400_000)),
            ("2 min 36 s", ms(156_000)),
            (" 1 d ", ms(86_400_000)),
            ("250us", Duration::from_micros(250)),
            ("250µs", Duration::from_micros(250)),
            ("7ns", Duration::from_nanos(7)),
            ("0.000000001s", Duration::from_nanos(1)),
            ("1.500000000000000000000000000000000000000000s", ms(1500)),
            ("0", Duration::ZERO),
            ("0s", Duration::ZERO),
            ("18446744073709551615ns", Duration::from_nanos(u64::MAX)),
        ] {
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn times_are_written_exactly() {
        for (nanos, text) in [
            (60_000_000_000, "60s"),
            (100_000_000, "100ms"),
            (1_500_000_000, "1500ms"),
            (1, "1ns"),
            (0, "0s"),
            (-1_500_000, "-1500us"),
        ] {
            assert_eq!(time_text(nanos), text);
        }
    }

    #[test]
    fn a_text_that_is_no_duration_says_why() {
        for (text, reason) in [
            ("", "is empty"),
            ("-5s", "is negative"),
            ("5", "has no unit after 5"),
            ("1h30", "has no unit after 30"),
            ("s", "is not a duration"),
            (".s", "is not a duration"),
            ("NaN", "is not a duration"),
            ("inf", "is not a duration"),
            ("1.2.3s", "is not a duration"),
            ("5s!", "is not a duration"),
            ("٣s", "is not a duration"),
            ("5 parsecs", "has the unknown unit parsecs"),
            ("1M", "has the unknown unit M"),
            ("1e3ms", "has the unknown unit e"),
            ("1s1m", "has m after a unit that is no longer"),
            ("1s2s", "has s after a unit that is no longer"),
            ("1m 2min", "has min after a unit that is no longer"),
            ("0.1ns", "is finer than a nanosecond"),
            ("0.0000000000000000000000000000000000000000001s", "is finer than a nanosecond"),
            ("18446744074s", "is too long"),
            ("18446744073s 1000000000ns", "is too long"),
            ("99999999999999999999999s", "is too long"),
            ("9999999999999999999999999999999999999999s", "is too long"),
            ("0.9s 18446744073709551615ns", "is too long"),
        ] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }
}
