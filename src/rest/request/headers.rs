//! Headers of requests.

use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, TE};
use http::{HeaderMap, HeaderName, HeaderValue};

const X_GOOG_API_CLIENT: HeaderName = HeaderName::from_static("x-goog-api-client");
const X_HTTP_METHOD_OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");

/// The headers of an HTTP request, made of those of the gRPC request: what is gRPC's own is left out, and with it its timeout.
pub(crate) fn http_headers(
    headers: HeaderMap,
    has_body: bool,
    accepts_gzip: bool,
    is_overridden: bool,
) -> HeaderMap {
    let mut headers = headers;
    let of_grpc: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with("grpc-")).cloned().collect();
    let of_request = [TE, CONTENT_TYPE, CONTENT_LENGTH, HOST, ACCEPT_ENCODING, X_HTTP_METHOD_OVERRIDE];
    for name in of_grpc.iter().chain(&of_request) {
        headers.remove(name);
    }
    if let Some(client) = headers.get(X_GOOG_API_CLIENT).and_then(rest_client) {
        headers.insert(X_GOOG_API_CLIENT, client);
    }
    if has_body {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if accepts_gzip {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if is_overridden {
        headers.insert(X_HTTP_METHOD_OVERRIDE, HeaderValue::from_static("PATCH"));
    }
    headers
}

/// The value of `x-goog-api-client` with `rest/` in place of `grpc/`.
fn rest_client(value: &HeaderValue) -> Option<HeaderValue> {
    const REST: &str = concat!("rest/", env!("CARGO_PKG_VERSION"));
    let tokens = value.to_str().ok()?.split(' ');
    let tokens = tokens.map(|token| if token.starts_with("grpc/") { REST } else { token });
    HeaderValue::from_str(&tokens.collect::<Vec<_>>().join(" ")).ok()
}
