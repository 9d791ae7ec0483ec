//! Replies.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

/// A reply before faults happen to it.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The place of the body's first byte in the object.
    pub(crate) place: u64,
    /// `true` if its length is sent before it.
    pub(crate) is_sized: bool,
}

impl Reply {
    /// A reply without a body.
    pub(crate) fn new(status: u16) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new(), place: 0, is_sized: true }
    }

    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..Self::new(200) }.with("content-type", "application/json; charset=UTF-8")
    }

    /// An error as the JSON API has it.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        let body: Value = json!({ "error": { "code": status, "message": message } });
        Self { status, ..Self::json(body.to_string()) }
    }

    /// With a header; a value that can't be one is left out.
    pub(crate) fn with(mut self, name: &'static str, value: impl TryInto<HeaderValue>) -> Self {
        if let Ok(value) = value.try_into() {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }
}
