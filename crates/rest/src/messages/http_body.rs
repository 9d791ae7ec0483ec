//! `google.api.HttpBody`: bytes of any type, which are sent as they are.

use bytes::Bytes;
use http::HeaderValue;
use http::header::InvalidHeaderValue;
use prost_reflect::{DynamicMessage, MessageDescriptor, Value};

/// Returns whether messages of that type are such bytes.
pub(crate) fn is_http_body(kind: &MessageDescriptor) -> bool {
    kind.full_name() == "google.api.HttpBody"
}

/// The message that a body of that type is.
pub(crate) fn read_http_body(
    kind: MessageDescriptor,
    content_type: Option<&HeaderValue>,
    body: &[u8],
) -> DynamicMessage {
    let mut message = DynamicMessage::new(kind);
    let content_type = content_type.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    message.set_field_by_name("content_type", Value::String(content_type.to_owned()));
    message.set_field_by_name("data", Value::Bytes(Bytes::copy_from_slice(body)));
    message
}

/// The bytes of a message, and their type.
pub(crate) fn write_http_body(message: &DynamicMessage) -> Result<(Bytes, HeaderValue), InvalidHeaderValue> {
    let field = |name| message.get_field_by_name(name);
    let data = field("data").and_then(|data| data.as_bytes().cloned()).unwrap_or_default();
    let kind = field("content_type").and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
    let kind = if kind.is_empty() { "application/octet-stream" } else { &kind };
    Ok((data, HeaderValue::from_str(kind)?))
}
