//! Errors of other people's layers between the retries and the connection.
#![allow(missing_docs, reason = "for the crates of this repository alone")]

use super::chain;
use std::error::Error;

/// The meaning of an error of a layer of tower, or of tokio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum LayerError {
    /// Its own timeout passed: `tower::timeout`, `tokio::time::timeout`.
    TimedOut,
    /// It takes no more requests at present, and has not passed this one on: `tower::load_shed`.
    Overloaded,
    /// It has closed for good: `tower::buffer`.
    Closed,
}

impl LayerError {
    /// Returns the meaning of that error, without its sources.
    #[must_use]
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        use tower::buffer::error::{Closed, ServiceError};
        if error.is::<tower::timeout::error::Elapsed>() || error.is::<tokio::time::error::Elapsed>() {
            return Some(Self::TimedOut);
        }
        if error.is::<tower::load_shed::error::Overloaded>() {
            return Some(Self::Overloaded);
        }
        (error.is::<Closed>() || error.is::<ServiceError>()).then_some(Self::Closed)
    }

    /// Returns the meaning of that error, or of the first of its sources that is one of a layer.
    #[must_use]
    pub fn behind(error: &(dyn Error + 'static)) -> Option<Self> {
        chain(error).find_map(Self::of)
    }
}
