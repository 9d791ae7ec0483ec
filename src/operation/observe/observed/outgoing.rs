//! A request that is about to go out.

use super::Outbound;
use http::HeaderMap;
use std::sync::Arc;

/// What observers want of a request that is about to go out.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(super) headers: HeaderMap,
    /// Who is told of its body, where somebody watches what goes over the wire.
    pub(super) outbound: Option<Arc<Outbound>>,
}

impl Outgoing {
    /// Puts the headers in place of what a request has of these names.
    #[cold]
    pub(crate) fn add_headers(&mut self, headers: &mut HeaderMap) {
        for (name, value) in std::mem::take(&mut self.headers) {
            // Of each name there is one value.
            if let Some(name) = name {
                headers.insert(name, value);
            }
        }
    }

    /// Who is told of the body.
    pub(crate) fn outbound(self) -> Option<Arc<Outbound>> {
        self.outbound
    }
}
