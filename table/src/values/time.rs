//! Times in the form that people write, such as `100ms` or `1m30s`.

/// Units with their nanoseconds, the longest first.
#[cfg(any(feature = "convert", feature = "toml"))]
const UNITS: [(&str, i128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

/// Nanoseconds of a text such as `100ms`, `1.5s` or `1m30s`: numbers with their units, the longest unit
/// first; `None` for any other text.
#[cfg(feature = "toml")]
pub(crate) fn parse_time(text: &str) -> Option<i128> {
    let mut units = UNITS.iter();
    let mut left = text;
    let mut total = 0_i128;
    while !left.is_empty() || left.len() == text.len() {
        let unit_start = left.find(|character: char| character.is_ascii_alphabetic())?;
        let (number, rest) = left.split_at(unit_start);
        let unit_end = rest.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(unit_end);
        let (_, nanos) = units.by_ref().find(|(known, _)| *known == unit)?;
        total = total.checked_add(scaled(number, *nanos)?)?;
        left = rest;
    }
    Some(total)
}

/// A decimal number times a unit, what is below a nanosecond cut off.
#[cfg(feature = "toml")]
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() > 18 {
        return None;
    }
    let fraction = fraction.get(..fraction.len().min(15))?;
    let part = fraction.parse::<i128>().ok()? * unit / 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    Some(whole.parse::<i128>().ok()? * unit + part)
}

/// A time in the shortest exact form with one unit: whole seconds, milliseconds, microseconds or
/// nanoseconds.
#[cfg(feature = "convert")]
pub(crate) fn time_text(nanos: i128) -> String {
    let (unit, size) = UNITS
        .into_iter()
        .skip_while(|(unit, _)| *unit != "s")
        .find(|(_, size)| nanos % size == 0)
        .unwrap_or(("ns", 1));
    format!("{}{unit}", nanos / size)
}

/// A time in protobuf's JSON form, such as `0.1s`.
#[cfg(feature = "convert")]
pub(crate) fn seconds_text(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    if rest == 0 {
        return format!("{sign}{whole}s");
    }
    let fraction = format!("{rest:09}");
    format!("{sign}{whole}.{}s", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_exactly() {
        for (nanos, time, seconds) in [
            (60_000_000_000, "60s", "60s"),
            (100_000_000, "100ms", "0.1s"),
            (1_500_000_000, "1500ms", "1.5s"),
            (1, "1ns", "0.000000001s"),
            (0, "0s", "0s"),
            (-1_500_000, "-1500us", "-0.0015s"),
        ] {
            assert_eq!(time_text(nanos), time);
            assert_eq!(seconds_text(nanos), seconds);
        }
    }

    #[cfg(feature = "toml")]
    #[test]
    fn times_are_read_in_the_form_that_people_write() {
        for (text, nanos) in [
            ("100ms", 100_000_000),
            ("1.5s", 1_500_000_000),
            ("1m30s", 90_000_000_000),
            ("2h", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
            ("0s", 0),
            ("0.0000000019s", 1),
            ("7us", 7000),
        ] {
            assert_eq!(parse_time(text), Some(nanos), "{text}");
        }
        for text in [
            "",
            "5",
            "s",
            "5 s",
            "-1s",
            "1s1m",
            "1s2s",
            "1e3s",
            "1.s",
            ".5s",
            "9999999999999999999s",
            "1M",
            "٣s",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
