//! Headers: those of HTTP requests made of gRPC's, and those of gRPC responses made of HTTP's.

use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

const X_GOOG_API_CLIENT: HeaderName = HeaderName::from_static("x-goog-api-client");
const X_HTTP_METHOD_OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");

/// The headers of an HTTP request with that verb, made of those of the gRPC request: what is gRPC's own is left out, and with it its
/// timeout.
pub(super) fn http_headers(
    headers: HeaderMap,
    verb: &Method,
    has_body: bool,
    accepts_gzip: bool,
    is_overridden: bool,
) -> HeaderMap {
    let mut headers = headers;
    let of_request = [TE, CONTENT_TYPE, CONTENT_LENGTH, HOST, ACCEPT_ENCODING, X_HTTP_METHOD_OVERRIDE];
    remove(&mut headers, &of_request);
    if let Some(client) = headers.get(X_GOOG_API_CLIENT).and_then(rest_client) {
        headers.insert(X_GOOG_API_CLIENT, client);
    }
    if has_body {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    } else if matches!(*verb, Method::POST | Method::PUT | Method::PATCH) {
        // RFC 9110, 8.6. hyper leaves it out in HTTP/1.1, and Google's servers reply 411 then.
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    if accepts_gzip {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if is_overridden {
        headers.insert(X_HTTP_METHOD_OVERRIDE, HeaderValue::from_static("PATCH"));
    }
    headers
}

/// The headers of a gRPC response, made of those of the HTTP response: what is about its body or its connection is left out, and what
/// only a gRPC server has to say.
pub(super) fn grpc_headers(mut headers: HeaderMap) -> HeaderMap {
    remove(
        &mut headers,
        &[CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING, UPGRADE],
    );
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers
}

/// Takes these headers out, and gRPC's own. Those of grpc-gateway stay: they are metadata by another name.
fn remove(headers: &mut HeaderMap, names: &[HeaderName]) {
    const OF_GATEWAY: [&str; 2] = ["grpc-metadata-", "grpc-trailer-"];
    let is_of_grpc = |name: &&HeaderName| {
        let name = name.as_str();
        name.starts_with("grpc-") && !OF_GATEWAY.iter().any(|prefix| name.starts_with(prefix))
    };
    let of_grpc: Vec<HeaderName> = headers.keys().filter(is_of_grpc).cloned().collect();
    for name in of_grpc.iter().chain(names) {
        headers.remove(name);
    }
}

/// The value of `x-goog-api-client` with `rest/` instead of `grpc/`.
fn rest_client(value: &HeaderValue) -> Option<HeaderValue> {
    const REST: &str = concat!("rest/", env!("CARGO_PKG_VERSION"));
    let tokens = value.to_str().ok()?.split(' ');
    let tokens = tokens.map(|token| if token.starts_with("grpc/") { REST } else { token });
    HeaderValue::from_str(&tokens.collect::<Vec<_>>().join(" ")).ok()
}
