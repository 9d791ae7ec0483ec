//! The endpoints that attempts go to.

use std::sync::Arc;

/// The endpoint that an attempt went to: its address, as reports and observers see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Peer(Arc<str>);

impl Peer {
    #[cfg(feature = "connection")]
    pub(crate) fn new(address: &impl std::fmt::Display) -> Self {
        Self(address.to_string().into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
