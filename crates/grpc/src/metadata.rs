//! The metadata that retries write and read.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use gax_retry::ServerDelay;
use gax_text::GrpcTimeout;
use gax_wire::__private::{PUSHBACK, retry_info};
use grpc::metadata::{AsciiMetadataKey, BinaryMetadataKey, MetadataMap, MetadataValue};
use http::HeaderMap;
use std::time::Duration;

/// How much time an attempt has.
pub(crate) const TIMEOUT: &str = "grpc-timeout";
/// gRFC A6: how many attempts came before.
pub(crate) const PREVIOUS_ATTEMPTS: &str = "grpc-previous-rpc-attempts";
const DETAILS: &str = "grpc-status-details-bin";

/// Base64 with or without padding: gRPC's binary metadata has either.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Writes the timeout.
pub(crate) fn set_timeout(metadata: &mut MetadataMap, timeout: Option<Duration>) {
    metadata.remove(TIMEOUT);
    if let Some(timeout) = timeout {
        set(metadata, TIMEOUT, &GrpcTimeout::of(timeout).to_string());
    }
}

/// The timeout that a caller has written; `None`: there is none, or it is not of the protocol's form.
pub(crate) fn timeout(metadata: &MetadataMap) -> Option<Duration> {
    GrpcTimeout::parse(metadata.get(TIMEOUT)?.to_str().as_bytes()).map(GrpcTimeout::duration)
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
    let pushback =
        ServerDelay::of_pushback(trailers.get_all(PUSHBACK).iter().map(|value| value.to_str().as_bytes()));
    let longest = || retry_info(&Bytes::from(trailers.get_bin(DETAILS)?.clone()));
    pushback.or_else(|| longest().map(ServerDelay::AtLeast)).unwrap_or_default()
}
