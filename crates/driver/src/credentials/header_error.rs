//! Values that no header can have.

use std::error::Error;
use std::fmt;

/// A value that can't be sent in a header. The value itself is left out: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderError {
    what: &'static str,
}

impl HeaderError {
    /// The error of a value, which that phrase names, such as "the API key".
    #[must_use]
    pub const fn new(what: &'static str) -> Self {
        Self { what }
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is empty or has characters that a header may not have; use visible ASCII", self.what)
    }
}

impl Error for HeaderError {}
