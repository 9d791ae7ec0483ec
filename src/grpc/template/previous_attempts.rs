//! The header that says how often a request was sent before.

use crate::grpc::status::received;
use http::{HeaderMap, HeaderName};

/// gRFC A6: how many attempts came before.
pub const PREVIOUS_ATTEMPTS: HeaderName = HeaderName::from_static("grpc-previous-rpc-attempts");

/// How many attempts came before a request that was received: none, where the header is missing or no number. More than can be
/// counted are as many as can.
pub(crate) fn previous_attempts(headers: &HeaderMap) -> u32 {
    let value = received::value(headers, &PREVIOUS_ATTEMPTS).and_then(|value| value.to_str().ok());
    let digits = value.filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty());
    digits.map_or(0, |digits| digits.parse().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_value_that_is_no_number_is_no_attempt() {
        let read = |value: &[u8]| {
            let value = HeaderValue::from_bytes(value).unwrap();
            previous_attempts(&HeaderMap::from_iter([(PREVIOUS_ATTEMPTS, value)]))
        };
        assert_eq!((read(b"0"), read(b"1"), read(b"4294967295")), (0, 1, u32::MAX));
        for many in [&b"4294967296"[..], b"99999999999999999999999"] {
            assert_eq!(read(many), u32::MAX, "{many:?}");
        }
        for wrong in [&b""[..], b"-1", b"+1", b"1.5", b"one", b"\xff", b"1, 2"] {
            assert_eq!(read(wrong), 0, "{wrong:?}");
        }
        assert_eq!(previous_attempts(&HeaderMap::new()), 0);
    }
}
