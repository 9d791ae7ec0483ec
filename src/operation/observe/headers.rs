//! The headers of a request that is about to go out.

use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;

/// The headers of one attempt's request, just before it goes out. An observer can add headers, but can't read any.
///
/// Whoever carries the context of a trace to the server writes it here, once for each attempt (see
/// [`OperationObserver::attempt_headers`](super::OperationObserver::attempt_headers)).
pub struct OutgoingHeaders<'a> {
    headers: &'a mut HeaderMap,
}

impl<'a> OutgoingHeaders<'a> {
    pub(crate) fn new(headers: &'a mut HeaderMap) -> Self {
        Self { headers }
    }

    /// Sets a header, and replaces those of the same name. An invalid name or value is ignored.
    pub fn set(&mut self, name: &str, value: &str) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            self.headers.insert(name, value);
        }
    }
}

impl fmt::Debug for OutgoingHeaders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingHeaders").finish_non_exhaustive()
    }
}
