//! The wait that a server asks for with a status, or a proxy in front of it with an HTTP error.

use crate::grpc::status::received::{self, BASE64};
use base64::Engine as _;
use bytes::Bytes;
use gax_retry::ServerDelay;
use gax_wire::__private::retry_after_in;
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message;
use std::time::Duration;
use tonic::Status;

/// gRFC A6: milliseconds, or a negative number for "never".
const PUSHBACK: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

/// The delay that the trailers of a status ask for: a pushback, or else the `google.rpc.RetryInfo` in its details.
pub(super) fn in_trailers(trailers: &HeaderMap) -> ServerDelay {
    // Most have neither, and one look at the names shows it (bench `speed`, instructions).
    if !trailers.keys().any(|name| *name == PUSHBACK || *name == Status::GRPC_STATUS_DETAILS) {
        return ServerDelay::None;
    }
    pushback(trailers).or_else(|| retry_info(trailers).map(ServerDelay::AtLeast)).unwrap_or_default()
}

/// The delay that an HTTP error without a `grpc-status` asks for.
pub(super) fn in_http_error(headers: &HeaderMap) -> ServerDelay {
    pushback(headers).or_else(|| retry_after_in(headers).map(ServerDelay::AtLeast)).unwrap_or_default()
}

fn pushback(headers: &HeaderMap) -> Option<ServerDelay> {
    ServerDelay::of_pushback(headers.get_all(PUSHBACK).iter().map(HeaderValue::as_bytes))
}

/// The longest delay of those that the details ask for.
fn retry_info(trailers: &HeaderMap) -> Option<Duration> {
    let bytes = BASE64.decode(received::value(trailers, &Status::GRPC_STATUS_DETAILS)?.as_bytes()).ok()?;
    let details = RpcStatus::decode(bytes.as_slice()).ok()?.details;
    let delays = details.into_iter().filter(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"));
    delays.filter_map(|detail| RetryInfo::decode(detail.value).ok()?.retry_delay?.duration()).max()
}

/// `google.rpc.Status`, as far as it is read here.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(message, repeated, tag = "3")]
    details: Vec<Detail>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
struct Detail {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    value: Bytes,
}

/// `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Delay>,
}

/// `google.protobuf.Duration`.
#[derive(Clone, PartialEq, Message)]
struct Delay {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

impl Delay {
    /// `None`: it is negative.
    fn duration(&self) -> Option<Duration> {
        Some(Duration::new(self.seconds.try_into().ok()?, self.nanos.try_into().ok()?))
    }
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

    fn details(of: &[(&str, Delay)]) -> String {
        let detail = |(type_url, delay): &(&str, Delay)| Detail {
            type_url: (*type_url).to_owned(),
            value: RetryInfo { retry_delay: Some(delay.clone()) }.encode_to_vec().into(),
        };
        BASE64.encode(RpcStatus { details: of.iter().map(detail).collect() }.encode_to_vec())
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
    fn the_longest_retry_info_counts_and_a_pushback_before_it() {
        const URL: &str = "type.googleapis.com/google.rpc.RetryInfo";
        let delay = |seconds, nanos| Delay { seconds, nanos };
        let of = |text: &str| in_trailers(&trailers(&[("grpc-status-details-bin", text)]));
        let both =
            details(&[(URL, delay(1, 500_000_000)), ("x/google.rpc.Help", delay(9, 0)), (URL, delay(0, 1))]);
        assert_eq!(of(&both), ServerDelay::AtLeast(MS(1500)));
        assert_eq!(of(&details(&[(URL, delay(-1, 0))])), ServerDelay::None);
        assert_eq!(of(&details(&[(URL, delay(0, -1))])), ServerDelay::None);
        let greatest = delay(i64::MAX, i32::MAX);
        assert!(matches!(of(&details(&[(URL, greatest)])), ServerDelay::AtLeast(_)));
        for text in ["", "!", "AAAA", "CgAQAQ"] {
            assert_eq!(of(text), ServerDelay::None, "{text}");
        }
        let all = trailers(&[("grpc-status-details-bin", &both), ("grpc-retry-pushback-ms", "7")]);
        assert_eq!(in_trailers(&all), ServerDelay::Exactly(MS(7)));
    }

    #[test]
    fn retry_after_counts_where_a_proxy_sent_the_error() {
        let headers = trailers(&[("retry-after", "2")]);
        assert_eq!(in_http_error(&headers), ServerDelay::AtLeast(MS(2000)));
        assert_eq!(in_trailers(&headers), ServerDelay::None);
    }
}
