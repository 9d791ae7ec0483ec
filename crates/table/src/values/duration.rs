//! Durations of protobuf's JSON form, such as `"0.1s"`.

/// The longest duration that protobuf has, in seconds: ten thousand years.
const MAX_SECONDS: u64 = 315_576_000_000;

/// Nanoseconds of a text such as `60s`, `0.25s` or `-1s`; `None` for any other text.
///
/// Digits after the ninth of the fraction are cut off. That and `+5s` and `5.s` is what protobuf's
/// Java library takes; `.5s` is what grpc-go takes.
pub(super) fn parse_duration(text: &str) -> Option<i128> {
    let unsigned = text.strip_suffix('s')?;
    let (negative, unsigned) = match unsigned.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, unsigned.strip_prefix('+').unwrap_or(unsigned)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let seconds = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    if seconds > MAX_SECONDS {
        return None;
    }
    let nanos = fraction
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(9)
        .fold(0_u32, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
    if seconds == MAX_SECONDS && nanos > 0 {
        return None;
    }
    let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    Some(if negative { -nanos } else { nanos })
}

/// Returns whether every gRPC client reads the text as a duration, its sign aside: digits, and up to nine behind a point.
pub(super) fn is_plain(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text).trim_end_matches('s');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    !whole.is_empty() && !whole.starts_with('+') && (1..=9).contains(&fraction.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_protobuf_takes_is_taken() {
        for (text, nanos) in [
            ("60s", 60_000_000_000),
            ("0.1s", 100_000_000),
            ("1.9999s", 1_999_900_000),
            ("0.0009s", 900_000),
            ("0.1234567899s", 123_456_789),
            ("5.s", 5_000_000_000),
            (".5s", 500_000_000),
            ("+5s", 5_000_000_000),
            ("-0.5s", -500_000_000),
            ("0s", 0),
            ("00060s", 60_000_000_000),
            ("315576000000s", 315_576_000_000_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Some(nanos), "{text}");
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "",
            "s",
            ".s",
            "60",
            "100ms",
            "60S",
            " 60s",
            "60s ",
            "1e2s",
            "1m",
            "--1s",
            "+-1s",
            "1.2.3s",
            "1.-5s",
            "NaNs",
            "infs",
            "٣s",
            "315576000001s",
            "315576000000.1s",
            "99999999999999999999s",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
