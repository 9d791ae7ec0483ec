//! The endpoints that attempts go to.

use std::fmt;
use std::sync::Arc;

/// The endpoint that an attempt went to, by its address: an event of the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Peer(Arc<str>);

impl Peer {
    /// The endpoint of that address.
    #[must_use]
    pub fn new(address: &impl fmt::Display) -> Self {
        Self(address.to_string().into())
    }

    /// Its address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
