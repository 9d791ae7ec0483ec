//! Durations as people read them.

use std::fmt;
use std::time::Duration;

const MICROSECOND: u128 = 1_000;
const MILLISECOND: u128 = 1_000_000;
const SECOND: u128 = 1_000_000_000;
const MINUTE: u128 = 60 * SECOND;
const HOUR: u128 = 60 * MINUTE;
const DAY: u128 = 24 * HOUR;

/// Prints a duration in units that fit, such as `55.7 s` or `2 min 36 s`.
///
/// The plain form has three significant places, more if they are whole seconds, minutes or hours. The alternate form
/// (`{:#}`) rounds nothing, for what a person has set: `1.2345 s`. Both are read back by the
/// [grammar](super::parse_duration) of the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around one value, made where it is printed")]
pub struct Human(pub Duration);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let text = if f.alternate() { exact(nanos) } else { rounded(nanos) };
        f.pad(&text)
    }
}

fn exact(nanos: u128) -> String {
    match nanos {
        0..MICROSECOND => format!("{nanos} ns"),
        MICROSECOND..MILLISECOND => decimal(nanos, MICROSECOND, "us"),
        MILLISECOND..SECOND => decimal(nanos, MILLISECOND, "ms"),
        _ => clock(nanos),
    }
}

fn rounded(nanos: u128) -> String {
    // A time that rounds up to the next unit is in that unit: 999.96 ms are 1 s.
    match nanos {
        0 => "0 ms".to_owned(),
        _ if nanos < MICROSECOND => format!("{nanos} ns"),
        _ if three_places(nanos) < SECOND => exact(three_places(nanos)),
        _ if three_places(nanos) < 2 * MINUTE => clock(three_places(nanos)),
        _ if to_nearest(nanos, SECOND) < HOUR => clock(to_nearest(nanos, SECOND)),
        _ if to_nearest(nanos, MINUTE) < 2 * DAY => clock(to_nearest(nanos, MINUTE)),
        _ => clock(to_nearest(nanos, HOUR)),
    }
}

/// Seconds up to two minutes, then two or more units of which each but the last is whole.
fn clock(nanos: u128) -> String {
    if nanos < 2 * MINUTE {
        return decimal(nanos, SECOND, "s");
    }
    let mut parts = Vec::new();
    let mut left = nanos;
    for (size, unit, from) in [(DAY, "d", 2 * DAY), (HOUR, "h", HOUR), (MINUTE, "min", 0)] {
        if nanos >= from && left >= size {
            parts.push(format!("{} {unit}", left / size));
            left %= size;
        }
    }
    if left > 0 {
        parts.push(decimal(left, SECOND, "s"));
    }
    parts.join(" ")
}

/// A number of units with the digits after the point that it has.
fn decimal(nanos: u128, unit: u128, name: &str) -> String {
    let (whole, rest) = (nanos / unit, nanos % unit);
    if rest == 0 {
        return format!("{whole} {name}");
    }
    let width = unit.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{} {name}", fraction.trim_end_matches('0'))
}

fn three_places(nanos: u128) -> u128 {
    to_nearest(nanos, 10_u128.pow(nanos.checked_ilog10().unwrap_or(0).saturating_sub(2)))
}

fn to_nearest(nanos: u128, step: u128) -> u128 {
    (nanos + step / 2) / step * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_duration;

    #[test]
    fn three_places_and_units_that_fit() {
        for (nanos, text) in [
            (0, "0 ms"),
            (7, "7 ns"),
            (999, "999 ns"),
            (12_345, "12.3 us"),
            (999_600, "1 ms"),
            (1_200_000, "1.2 ms"),
            (123_456_789, "123 ms"),
            (999_499_999, "999 ms"),
            (999_500_000, "1 s"),
            (1_234_567_890, "1.23 s"),
            (4_654_842_931, "4.65 s"),
            (55_738_050_272, "55.7 s"),
            (60_000_000_000, "60 s"),
            (119_400_000_000, "119 s"),
            (119_600_000_000, "2 min"),
            (155_738_050_272, "2 min 36 s"),
            (600_000_000_000, "10 min"),
            (3_600_000_000_000, "1 h"),
            (7_199_900_000_000, "2 h"),
            (9_000_000_000_000, "2 h 30 min"),
            (86_400_000_000_000, "24 h"),
            (180_000_000_000_000, "2 d 2 h"),
            (u64::MAX, "213504 d"),
        ] {
            assert_eq!(Human(Duration::from_nanos(nanos)).to_string(), text, "{nanos}");
        }
        assert_eq!(format!("{:>8}|", Human(Duration::from_secs(5))), "     5 s|");
    }

    #[test]
    fn what_was_set_is_not_rounded() {
        for text in [
            "1 ns",
            "1.5 us",
            "900 us",
            "100 ms",
            "162.51082 ms",
            "1.2345 s",
            "60 s",
            "90.5 s",
            "10 min",
            "2 min 35.25 s",
            "59 min",
            "2 h 1 min 1 s",
            "24 h",
            "2 d 1 s",
        ] {
            let duration = parse_duration(text).unwrap();
            assert_eq!(format!("{:#}", Human(duration)), text);
        }
    }

    #[test]
    fn every_form_can_be_read_back() {
        for power in 0..64 {
            let duration = Duration::from_nanos(3_u64.wrapping_pow(power));
            assert_eq!(parse_duration(&format!("{:#}", Human(duration))), Ok(duration));
            assert!(parse_duration(&Human(duration).to_string()).is_ok(), "{duration:?}");
        }
    }
}
