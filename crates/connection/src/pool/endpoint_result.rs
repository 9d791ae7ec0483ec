//! How good a response is for its endpoint.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, Response, StatusCode};

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// How good a response is for its endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndpointResult {
    Good,
    Bad,
    /// Its trailers are going to say it.
    Open,
}

impl EndpointResult {
    /// By a response's head, with that status in it.
    pub(crate) fn of_head<B>(response: &Response<B>, status: Option<i32>) -> Self {
        match status {
            Some(status) => Self::of_status(status),
            None if is_grpc(response.headers()) && response.status() == StatusCode::OK => Self::Open,
            None if response.status() == StatusCode::NOT_IMPLEMENTED => Self::Good,
            None if response.status().is_server_error() => Self::Bad,
            None => Self::Good,
        }
    }

    /// By a response's trailers.
    pub(crate) fn of_trailers(trailers: &HeaderMap) -> Self {
        grpc_status(trailers).map_or(Self::Open, Self::of_status)
    }

    fn of_status(status: i32) -> Self {
        // UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, DATA_LOSS.
        if matches!(status, 2 | 4 | 13 | 14 | 15) { Self::Bad } else { Self::Good }
    }
}

/// The status in a response's head, or in its trailers.
pub(crate) fn grpc_status(headers: &HeaderMap) -> Option<i32> {
    headers.get(GRPC_STATUS)?.to_str().ok()?.parse().ok()
}

fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_classified() {
        for (http, kind, status, expected) in [
            (200, "application/grpc", None, EndpointResult::Open),
            (200, "application/grpc+proto", Some("0"), EndpointResult::Good),
            (200, "application/grpc", Some("5"), EndpointResult::Good),
            (200, "application/grpc", Some("14"), EndpointResult::Bad),
            (200, "application/json", None, EndpointResult::Good),
            (404, "application/json", None, EndpointResult::Good),
            (501, "application/json", None, EndpointResult::Good),
            (503, "application/json", None, EndpointResult::Bad),
            (503, "application/grpc", None, EndpointResult::Bad),
        ] {
            let mut response = Response::builder().status(http).header("content-type", kind);
            if let Some(status) = status {
                response = response.header("grpc-status", status);
            }
            let response = response.body(()).unwrap();
            let result = EndpointResult::of_head(&response, grpc_status(response.headers()));
            assert_eq!(result, expected, "{http} {kind} {status:?}");
        }
    }
}
