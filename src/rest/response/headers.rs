//! Headers of responses.

use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use http::{HeaderMap, HeaderValue};

/// The headers of a gRPC response, made of those of the HTTP response: what is about its body or its connection is left out, and what
/// only a gRPC server has to say.
pub(crate) fn grpc_headers(mut headers: HeaderMap) -> HeaderMap {
    let of_grpc: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with("grpc-")).cloned().collect();
    let of_body = [CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING, UPGRADE];
    for name in of_grpc.iter().chain(&of_body) {
        headers.remove(name);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers
}
