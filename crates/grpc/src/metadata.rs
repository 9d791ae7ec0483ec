//! The metadata that retries write and read.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use gax_retry::ServerDelay;
use grpc::metadata::{AsciiMetadataKey, BinaryMetadataKey, MetadataMap, MetadataValue};
use http::HeaderMap;
use prost::Message;
use std::time::Duration;

/// How much time an attempt has.
pub(crate) const TIMEOUT: &str = "grpc-timeout";
/// gRFC A6: how many attempts came before.
pub(crate) const PREVIOUS_ATTEMPTS: &str = "grpc-previous-rpc-attempts";
/// gRFC A6: milliseconds, or a negative number for "never".
const PUSHBACK: &str = "grpc-retry-pushback-ms";
const DETAILS: &str = "grpc-status-details-bin";

/// Base64 with or without padding: gRPC's binary metadata has either.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The units of a `grpc-timeout` from the finest to the coarsest, each with its nanoseconds.
const UNITS: [(char, u64); 6] = [
    ('n', 1),
    ('u', 1_000),
    ('m', 1_000_000),
    ('S', 1_000_000_000),
    ('M', 60_000_000_000),
    ('H', 3_600_000_000_000),
];

/// The greatest number that a `grpc-timeout` holds: eight digits.
const MAX_DIGITS: u32 = 99_999_999;

/// Writes the timeout: the finest unit that eight digits suffice for, cut towards zero.
pub(crate) fn set_timeout(metadata: &mut MetadataMap, timeout: Option<Duration>) {
    metadata.remove(TIMEOUT);
    if let Some(timeout) = timeout {
        let (number, (letter, _)) = units(timeout);
        set(metadata, TIMEOUT, &format!("{number}{letter}"));
    }
}

/// The timeout that a server reads, which may be a fraction less.
pub(crate) fn written(timeout: Duration) -> Duration {
    let (number, (_, nanos)) = units(timeout);
    Duration::from_nanos(nanos).saturating_mul(number)
}

fn units(timeout: Duration) -> (u32, (char, u64)) {
    let number = |unit: u64| timeout.as_nanos() / u128::from(unit);
    let [.., hours] = UNITS;
    let fits = |(_, nanos): &&(char, u64)| number(*nanos) <= u128::from(MAX_DIGITS);
    let unit = UNITS.iter().find(fits).copied().unwrap_or(hours);
    (u32::try_from(number(unit.1)).unwrap_or(MAX_DIGITS).min(MAX_DIGITS), unit)
}

/// The timeout that a caller has written; `None`: there is none, or it is not of the protocol's form.
pub(crate) fn timeout(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get(TIMEOUT)?.to_str();
    let (digits, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let (_, unit) = UNITS.iter().find(|(unit, _)| letter.starts_with(*unit))?;
    let is_number = (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some(Duration::from_nanos(*unit).saturating_mul(digits.parse().ok().filter(|_| is_number)?))
}

/// Writes how many attempts came before. What a caller has written is removed.
pub(crate) fn set_previous_attempts(metadata: &mut MetadataMap, before: u32) {
    metadata.remove_all(PREVIOUS_ATTEMPTS);
    if before > 0 {
        set(metadata, PREVIOUS_ATTEMPTS, &before.to_string());
    }
}

fn set(metadata: &mut MetadataMap, name: &'static str, value: &str) {
    if let Ok(value) = MetadataValue::try_from(value) {
        metadata.insert(name, value);
    }
}

/// Replaces the metadata of a request that has the names of these headers.
pub(crate) fn add(metadata: &mut MetadataMap, headers: &HeaderMap) {
    for (name, value) in headers {
        let (name, value) = (name.as_str().as_bytes(), value.as_bytes());
        if let Ok(key) = BinaryMetadataKey::from_bytes(name) {
            if let Ok(value) = BASE64.decode(value) {
                metadata.insert_bin(key, MetadataValue::from_bytes(&value));
            }
        } else if let (Ok(key), Ok(value)) =
            (AsciiMetadataKey::from_bytes(name), MetadataValue::try_from(value))
        {
            metadata.insert(key, value);
        }
    }
}

/// The delay that trailers ask for: a pushback, or else the `google.rpc.RetryInfo` in its details.
pub(crate) fn server_delay(trailers: &MetadataMap) -> ServerDelay {
    pushback(trailers).or_else(|| retry_info(trailers).map(ServerDelay::AtLeast)).unwrap_or_default()
}

/// The pushback; `None`: there is none. Text that is not a 32-bit integer, and two values, mean "never".
fn pushback(trailers: &MetadataMap) -> Option<ServerDelay> {
    let mut values = trailers.get_all(PUSHBACK).iter();
    let milliseconds =
        values.next()?.to_str().parse::<i32>().ok().and_then(|number| u64::try_from(number).ok());
    Some(match (milliseconds, values.next()) {
        (Some(milliseconds), None) => ServerDelay::Exactly(Duration::from_millis(milliseconds)),
        _ => ServerDelay::Never,
    })
}

/// The longest delay of those that the details ask for.
fn retry_info(trailers: &MetadataMap) -> Option<Duration> {
    let details = RpcStatus::decode(Bytes::from(trailers.get_bin(DETAILS)?.clone())).ok()?.details;
    let delays = details.into_iter().filter(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"));
    let delays = delays.filter_map(|detail| RetryInfo::decode(detail.value).ok()?.retry_delay);
    delays
        .filter_map(|delay| Some(Duration::new(delay.seconds.try_into().ok()?, delay.nanos.try_into().ok()?)))
        .max()
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
