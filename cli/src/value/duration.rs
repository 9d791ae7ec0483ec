//! Durations: `1500ms`, `1.5s`, `2m`, `1h30m`.

use std::time::Duration;

const ADVICE: &str = "write a duration such as 1500ms, 1.5s, 2m or 1h30m";

/// The nanoseconds of each unit.
const UNITS: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Reads one or more numbers with units, exactly: no floating point, nothing rounded. A bare `0` is a
/// duration too. The longest is 2^64 - 1 nanoseconds, which is what schedules count in.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(format!("is empty; {ADVICE}"));
    }
    if rest.starts_with('-') {
        return Err(format!("is negative; {ADVICE}"));
    }
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        total = total.checked_add(part).ok_or_else(too_long)?;
        rest = after.trim_start();
    }
    Ok(Duration::from_nanos(total))
}

/// The nanoseconds of the leading number and unit, and the text after them.
fn part(text: &str) -> Result<(u64, &str), String> {
    let (number, rest) = split(text, |c| c.is_ascii_digit() || c == '.');
    let (unit, rest) = split(rest.trim_start(), char::is_alphabetic);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(format!("is not a duration; {ADVICE}"));
    }
    if unit.is_empty() {
        return Err(format!("has no unit after {number}; {ADVICE}"));
    }
    let Some((_, scale)) = UNITS.into_iter().find(|(name, _)| *name == unit) else {
        return Err(format!("has the unknown unit {unit} (known are ns, us, ms, s, m, h and d); {ADVICE}"));
    };
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().map_err(|_| too_long())? };
    let nanos = whole.checked_mul(scale).ok_or_else(too_long)?;
    let nanos = nanos.checked_add(fraction_of(fraction, scale)?).ok_or_else(too_long)?;
    Ok((nanos, rest))
}

/// The nanoseconds that the digits after the point stand for.
fn fraction_of(digits: &str, scale: u64) -> Result<u64, String> {
    let too_fine =
        || "is finer than a nanosecond, the smallest step there is; drop the last digits".to_owned();
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
    if !nanos.is_multiple_of(place) {
        return Err(too_fine());
    }
    u64::try_from(nanos / place).map_err(|_| too_long())
}

fn too_long() -> String {
    "is too long; the longest duration is 18446744073s, about 584 years".to_owned()
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
            assert_eq!(duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_told_why() {
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
            ("5 parsecs", "has the unknown unit parsecs"),
            ("1e3ms", "has the unknown unit e"),
            ("0.1ns", "is finer than a nanosecond"),
            ("0.0000000000000000000000000000000000000000001s", "is finer than a nanosecond"),
            ("18446744074s", "is too long"),
            ("18446744073s 1000000000ns", "is too long"),
            ("99999999999999999999999s", "is too long"),
            ("0.9s 18446744073709551615ns", "is too long"),
        ] {
            let error = duration(text).unwrap_err();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }
}
