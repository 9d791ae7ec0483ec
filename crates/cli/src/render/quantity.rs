//! Numbers of things as people write them.

use gax_retry::plan::Impact;
use std::fmt;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// A number with commas between thousands: `8,863`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count(pub(crate) u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() + digits.len() / 3);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

/// A number of bytes, exactly: `1 MiB`, `1,000,000 bytes`.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        MIB.. if count.is_multiple_of(MIB) => format!("{} MiB", Count(count / MIB)),
        KIB.. if count.is_multiple_of(KIB) => format!("{} KiB", Count(count / KIB)),
        _ => format!("{} bytes", Count(count)),
    }
}

/// A load as so many times the usual one: `23.1`, or `at least 10000` where attempts were not counted to the end.
pub(crate) fn times(impact: &Impact) -> String {
    let load = impact.load();
    if impact.is_load_capped() { format!("at least {load:.0}") } else { format!("{load:.1}") }
}

/// When hedges are sent while too few calls are known for a percentile, given the fixed delay.
pub(crate) fn until_measured(delay: Option<impl fmt::Display>) -> String {
    match delay {
        Some(delay) => format!("the delay of {delay:#} counts"),
        None => "no hedge is sent".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (count, text) in [(0, "0"), (999, "999"), (8863, "8,863"), (1_000_000, "1,000,000")] {
            assert_eq!(Count(count).to_string(), text);
        }
    }

    #[test]
    fn bytes_are_exact() {
        for (count, text) in [
            (1, "1 byte"),
            (0, "0 bytes"),
            (1000, "1,000 bytes"),
            (4096, "4 KiB"),
            (1_048_576, "1 MiB"),
            (1_048_577, "1,048,577 bytes"),
            (10_485_760, "10 MiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }
}
