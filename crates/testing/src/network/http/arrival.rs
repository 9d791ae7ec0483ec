//! Requests as an HTTP/1.1 peer saw them.

use bytes::Bytes;
use http::HeaderMap;
use std::time::Duration;

/// A request that reached an [`HttpPeer`](super::HttpPeer) whole.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpArrival {
    /// When, from the peer's start on.
    pub at: Duration,
    /// The method.
    pub method: String,
    /// The path and query, or the whole URI where a client speaks to a proxy.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl HttpArrival {
    /// A header as text. `None`: it is missing, or not ASCII.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
