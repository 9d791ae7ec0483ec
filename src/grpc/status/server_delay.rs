//! The wait that a server asks for with a status, or a proxy in front of it with an HTTP error.

use crate::grpc::status::received::{self, BASE64};
use base64::Engine as _;
use gax_retry::ServerDelay;
use gax_wire::__private::{self as wire, retry_after_in, retry_info};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;
use tonic::Status;

const PUSHBACK: HeaderName = HeaderName::from_static(wire::PUSHBACK);

/// The delay that the trailers of a status ask for: a pushback, or else the `google.rpc.RetryInfo` in its details.
pub(super) fn in_trailers(trailers: &HeaderMap) -> ServerDelay {
    // Most have neither, and one look at the names shows it (bench `speed`, instructions).
    if !trailers.keys().any(|name| *name == PUSHBACK || *name == Status::GRPC_STATUS_DETAILS) {
        return ServerDelay::None;
    }
    pushback(trailers).or_else(|| retry_info_in(trailers).map(ServerDelay::AtLeast)).unwrap_or_default()
}

/// The delay that an HTTP error without a `grpc-status` asks for.
pub(super) fn in_http_error(headers: &HeaderMap) -> ServerDelay {
    pushback(headers).or_else(|| retry_after_in(headers).map(ServerDelay::AtLeast)).unwrap_or_default()
}

fn pushback(headers: &HeaderMap) -> Option<ServerDelay> {
    ServerDelay::of_pushback(headers.get_all(PUSHBACK).iter().map(HeaderValue::as_bytes))
}

/// The longest delay of those that the details ask for.
fn retry_info_in(trailers: &HeaderMap) -> Option<Duration> {
    retry_info(&BASE64.decode(received::value(trailers, &Status::GRPC_STATUS_DETAILS)?.as_bytes()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn trailers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_pushback_is_a_32_bit_integer_or_never() {
        let pushback = |value| in_trailers(&trailers(&[("grpc-retry-pushback-ms", value)]));
        for (value, milliseconds) in [("0", 0), ("300", 300), ("2147483647", 2_147_483_647)] {
            assert_eq!(pushback(value), ServerDelay::Exactly(MS(milliseconds)), "{value}");
        }
        for value in [
            "-1",
            "-2147483648",
            "abc",
            "",
            "1.5",
            " 1",
            "1 ",
            "2147483648",
            "99999999999999999999",
            "\u{fc}",
        ] {
            assert_eq!(pushback(value), ServerDelay::Never, "{value:?}");
        }
        let twice = trailers(&[("grpc-retry-pushback-ms", "10"), ("grpc-retry-pushback-ms", "10")]);
        assert_eq!(in_trailers(&twice), ServerDelay::Never);
        assert_eq!(in_trailers(&trailers(&[])), ServerDelay::None);
    }

    #[test]
    fn a_pushback_counts_before_a_retry_info() {
        const RETRY_INFO: &[u8] =
            b"\x1a\x32\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x06\x0a\x04\x08\x01\x10\x02";
        let of = |text: &str| in_trailers(&trailers(&[("grpc-status-details-bin", text)]));
        let details = BASE64.encode(RETRY_INFO);
        assert_eq!(of(&details), ServerDelay::AtLeast(Duration::new(1, 2)));
        for text in ["", "!", "AAAA", "CgAQAQ"] {
            assert_eq!(of(text), ServerDelay::None, "{text}");
        }
        let all = trailers(&[("grpc-status-details-bin", &details), ("grpc-retry-pushback-ms", "7")]);
        assert_eq!(in_trailers(&all), ServerDelay::Exactly(MS(7)));
    }

    #[test]
    fn retry_after_counts_where_a_proxy_sent_the_error() {
        let headers = trailers(&[("retry-after", "2")]);
        assert_eq!(in_http_error(&headers), ServerDelay::AtLeast(MS(2000)));
        assert_eq!(in_trailers(&headers), ServerDelay::None);
    }
}
