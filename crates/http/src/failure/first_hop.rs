//! Errors of a reqwest client that may follow redirects.

use gax_wire::__private::BoxError;

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

gax_text::error_text! { self: FirstHop => Some(&self.0), "{}", self.0 }
