//! The `grpc-timeout` header.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use gax_text::GrpcTimeout;
use http::{HeaderName, HeaderValue};
use std::time::Duration;

pub const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// The header's value for a timeout: see [`GrpcTimeout::of`].
#[must_use]
pub fn header_value(timeout: Duration) -> HeaderValue {
    let timeout = GrpcTimeout::of(timeout);
    // Written from the right: the unit, and at most eight digits before it.
    let mut text = [0_u8; 9];
    let mut rest = timeout.number();
    let mut start = text.len();
    let mut byte = timeout.letter();
    for slot in text.iter_mut().rev() {
        *slot = byte;
        start -= 1;
        if rest == 0 && byte.is_ascii_digit() {
            break;
        }
        byte = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    let written = text.get(start..).unwrap_or_default();
    HeaderValue::from_bytes(written).unwrap_or_else(|_| HeaderValue::from_static("0n"))
}

/// The timeout as its header has it, which may be a fraction less.
#[must_use]
pub fn written(timeout: Duration) -> Duration {
    GrpcTimeout::of(timeout).duration()
}

/// The timeout that a header's value stands for.
pub fn parse(value: &[u8]) -> Option<Duration> {
    GrpcTimeout::parse(value).map(GrpcTimeout::duration)
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
    fn tonic_writes_timeouts_alike() {
        for nanos in [0, 1, 99_999_999, 100_000_000, 1_500_000_000, 59_999_999_999, 300_000_000_000] {
            let timeout = Duration::from_nanos(nanos);
            let mut request = tonic::Request::new(());
            request.set_timeout(timeout);
            let theirs = request.metadata().get("grpc-timeout").unwrap().to_str().unwrap();
            assert_eq!(text(timeout), theirs);
        }
    }

    #[test]
    fn a_written_timeout_is_the_one_in_the_header() {
        for nanos in [0, 1, 1_500_000_000, 295_123_999_999, 100_000_900_000_000] {
            let timeout = Duration::from_nanos(nanos);
            assert_eq!(Some(written(timeout)), parse(header_value(timeout).as_bytes()));
        }
        assert_eq!(written(Duration::from_micros(295_123_999)), Duration::from_millis(295_123));
    }

    #[test]
    fn a_written_timeout_is_read_again() {
        for (value, nanos) in
            [("0n", 0), ("15u", 15_000), ("99999999m", 99_999_999_000_000), ("2H", 7_200_000_000_000)]
        {
            assert_eq!(parse(value.as_bytes()), Some(Duration::from_nanos(nanos)), "{value}");
        }
        assert_eq!(parse(b"99999999H"), Some(Duration::from_secs(99_999_999 * 3600)));
    }

    #[test]
    fn a_value_that_the_protocol_does_not_allow_is_no_timeout() {
        for wrong in ["", "n", "5", "5s", "123456789n", "-1n", "1 n", "+1n", "\u{661}n"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
