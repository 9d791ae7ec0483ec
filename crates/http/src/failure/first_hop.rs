//! Errors of a reqwest client that may follow redirects.

use gax_wire::__private::BoxError;
use std::error::Error;
use std::fmt;

/// An error that speaks of the first hop of a request: there is no other, or it was not begun.
#[derive(Debug)]
pub(crate) struct FirstHop(reqwest::Error);

impl FirstHop {
    pub(crate) fn of(error: reqwest::Error) -> Self {
        Self(error)
    }

    /// The error as the client gave it.
    pub(crate) fn unwrap(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(error) => Box::new(error.0),
            Err(error) => error,
        }
    }
}

impl fmt::Display for FirstHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for FirstHop {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}
