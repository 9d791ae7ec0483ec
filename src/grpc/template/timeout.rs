//! The `grpc-timeout` header of a request.

use crate::grpc::status::received;
pub(crate) use gax_wire::__house::grpc_timeout::{GRPC_TIMEOUT, header_value, parse, written};
use http::{HeaderMap, HeaderValue};
use std::time::Duration;

/// Writes the header of a request, or takes it away.
#[inline]
pub(crate) fn set_header(headers: &mut HeaderMap, timeout: Option<HeaderValue>) {
    match timeout {
        Some(timeout) => drop(headers.insert(GRPC_TIMEOUT, timeout)),
        None => drop(headers.remove(GRPC_TIMEOUT)),
    }
}

/// The timeout that a header carries; `None` if it is missing or not of the protocol's form.
pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Duration> {
    parse(received::value(headers, &GRPC_TIMEOUT)?.as_bytes())
}
