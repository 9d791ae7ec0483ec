//! Durations for people.

use std::time::Duration;

/// A duration as `60 s`, `4.7 s`, `100 ms` or `0.25 ms`, to the millisecond from one second on and to the
/// microsecond below.
pub(super) fn human(duration: Duration) -> String {
    let (thousandths, unit) = if duration >= Duration::from_secs(1) {
        ((duration.as_nanos() + 500_000) / 1_000_000, "s")
    } else {
        ((duration.as_nanos() + 500) / 1_000, "ms")
    };
    let fraction = format!("{:03}", thousandths % 1000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction} {unit}", thousandths / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_needed_is_not_shown() {
        for (nanos, text) in [
            (0, "0 ms"),
            (250_000, "0.25 ms"),
            (100_000_000, "100 ms"),
            (4_700_000_000, "4.7 s"),
            (60_000_000_000, "60 s"),
            (371_293_000, "371.293 ms"),
            (1_234_567_890, "1.235 s"),
            (999_999_999, "1000 ms"),
        ] {
            assert_eq!(human(Duration::from_nanos(nanos)), text);
        }
    }
}
