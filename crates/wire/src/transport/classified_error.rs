//! Errors that a transport below has classified already.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use crate::transport::chain::BoxError;
use crate::transport::reach::Reach;
use gax_retry::Code;
use std::error::Error;
use std::fmt;

/// Says whether another attempt may follow an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum Finality {
    /// The code says it.
    ByCode,
    /// No other attempt can do better.
    Final,
    /// The response can't be read, and no other attempt would read it better.
    Unreadable,
}

/// The classification of an error by a transport that replaces gRPC's own, in the error's chain of sources.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct ClassifiedError {
    pub code: Code,
    pub reach: Reach,
    pub finality: Finality,
    pub source: Option<BoxError>,
}

impl fmt::Display for ClassifiedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.finality {
            Finality::ByCode => "the HTTP request failed",
            Finality::Final => "the HTTP request can't succeed",
            Finality::Unreadable => "the HTTP response can't be read",
        })
    }
}

impl Error for ClassifiedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
