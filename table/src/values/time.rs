//! Times in the forms that tables are written in, exactly.

/// A time in the shortest exact form with one unit: whole seconds, milliseconds, microseconds or
/// nanoseconds.
pub(crate) fn time_text(nanos: i128) -> String {
    const UNITS: [(&str, i128); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)];
    let (unit, size) = UNITS.into_iter().find(|(_, size)| nanos % size == 0).unwrap_or(("ns", 1));
    format!("{}{unit}", nanos / size)
}

/// A time in protobuf's JSON form, such as `0.1s`.
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
}
