//! Times in protobuf's form, exactly.

use std::time::Duration;

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

/// The nanoseconds of a duration.
pub(crate) fn nanos(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_exactly() {
        for (nanos, seconds) in [
            (60_000_000_000, "60s"),
            (100_000_000, "0.1s"),
            (1_500_000_000, "1.5s"),
            (1, "0.000000001s"),
            (0, "0s"),
            (-1_500_000, "-0.0015s"),
        ] {
            assert_eq!(seconds_text(nanos), seconds);
        }
    }
}
