//! The `grpc-timeout` header, as the gRPC protocol writes it: at most eight digits and a unit.

use super::answer;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

pub(crate) const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

const NANOS_PER_UNIT: [(u8, u128); 6] = [
    (b'n', 1),
    (b'u', 1_000),
    (b'm', 1_000_000),
    (b'S', 1_000_000_000),
    (b'M', 60 * 1_000_000_000),
    (b'H', 3600 * 1_000_000_000),
];

/// The greatest number that eight digits hold.
const MAX_VALUE: u128 = 99_999_999;

/// The header's value for a timeout: the finest unit that eight digits suffice for, cut towards zero as
/// tonic cuts it. More than 99,999,999 hours are written as that many.
pub(crate) fn header_value(timeout: Duration) -> HeaderValue {
    let (unit, _, value) = units(timeout);
    // Written from the right: at most eight digits, then the unit.
    let mut text = [0_u8; 9];
    let mut rest = value;
    let mut start = text.len();
    let mut byte = unit;
    for slot in text.iter_mut().rev() {
        *slot = byte;
        start -= 1;
        if rest == 0 && byte != unit {
            break;
        }
        byte = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    let written = text.get(start..).unwrap_or_default();
    HeaderValue::from_bytes(written).unwrap_or_else(|_| HeaderValue::from_static("0n"))
}

/// The timeout as its header tells it, which may be a fraction less.
pub(crate) fn written(timeout: Duration) -> Duration {
    let (_, size, value) = units(timeout);
    duration(value * size).unwrap_or(timeout)
}

/// The unit that a timeout is written in, its length, and how many of them.
fn units(timeout: Duration) -> (u8, u128, u128) {
    let nanos = timeout.as_nanos();
    NANOS_PER_UNIT
        .into_iter()
        .map(|(unit, size)| (unit, size, nanos / size))
        .find(|(_, _, value)| *value <= MAX_VALUE)
        .unwrap_or((b'H', 3600 * 1_000_000_000, MAX_VALUE))
}

fn duration(nanos: u128) -> Option<Duration> {
    let seconds = u64::try_from(nanos / 1_000_000_000).ok()?;
    let subsecond = u32::try_from(nanos % 1_000_000_000).ok()?;
    Some(Duration::new(seconds, subsecond))
}

/// The shorter of two times, where one that is not there is no limit.
pub(crate) fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The timeout that a header carries; `None` where it is missing or not of the protocol's form.
pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Duration> {
    parse(answer::value(headers, &GRPC_TIMEOUT)?.as_bytes())
}

/// The same, of the header's value.
pub(crate) fn parse(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let (_, size) = NANOS_PER_UNIT.into_iter().find(|(known, _)| known == unit)?;
    duration(u128::from(number) * size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(timeout: Duration) -> String {
        header_value(timeout).to_str().unwrap().to_owned()
    }

    #[test]
    fn the_finest_unit_of_eight_digits_is_written() {
        assert_eq!(text(Duration::ZERO), "0n");
        assert_eq!(text(Duration::from_nanos(7)), "7n");
        assert_eq!(text(Duration::from_nanos(99_999_999)), "99999999n");
        assert_eq!(text(Duration::from_millis(100)), "100000u");
        assert_eq!(text(Duration::from_millis(1500)), "1500000u");
        assert_eq!(text(Duration::from_secs(99)), "99000000u");
        assert_eq!(text(Duration::from_secs(100)), "100000m");
        assert_eq!(text(Duration::from_secs(100_000)), "100000S");
        assert_eq!(text(Duration::from_secs(100_000_000)), "1666666M");
        assert_eq!(text(Duration::from_secs(6_000_000_000)), "1666666H");
        assert_eq!(text(Duration::MAX), "99999999H");
    }

    #[test]
    fn tonic_writes_the_same() {
        for nanos in [0, 1, 99_999_999, 100_000_000, 1_500_000_000, 59_999_999_999, 300_000_000_000] {
            let timeout = Duration::from_nanos(nanos);
            let mut request = tonic::Request::new(());
            request.set_timeout(timeout);
            let theirs = request.metadata().get("grpc-timeout").unwrap().to_str().unwrap();
            assert_eq!(text(timeout), theirs);
        }
    }

    #[test]
    fn what_is_written_is_what_the_header_says() {
        for nanos in [0, 1, 1_500_000_000, 295_123_999_999, 100_000_900_000_000] {
            let timeout = Duration::from_nanos(nanos);
            assert_eq!(Some(written(timeout)), parse(header_value(timeout).as_bytes()));
        }
        assert_eq!(written(Duration::from_micros(295_123_999)), Duration::from_millis(295_123));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (value, nanos) in
            [("0n", 0), ("15u", 15_000), ("99999999m", 99_999_999_000_000), ("2H", 7_200_000_000_000)]
        {
            assert_eq!(parse(value.as_bytes()), Some(Duration::from_nanos(nanos)), "{value}");
        }
        assert_eq!(parse(b"99999999H"), Some(Duration::from_secs(99_999_999 * 3600)));
    }

    #[test]
    fn what_the_protocol_does_not_allow_is_no_timeout() {
        for wrong in ["", "n", "5", "5s", "123456789n", "-1n", "1 n", "+1n", "\u{661}n"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong:?}");
        }
        assert_eq!(from_headers(&HeaderMap::new()), None);
    }
}
