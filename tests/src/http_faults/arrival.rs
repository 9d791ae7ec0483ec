//! Requests as the server saw them.

use bytes::Bytes;
use http::HeaderMap;
use std::time::Duration;

/// A request that reached the server whole.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpArrival {
    /// When, from the server's start on.
    pub at: Duration,
    /// The method.
    pub method: String,
    /// The path and query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl HttpArrival {
    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}
