//! Credentials that can't be had.

use gax_retry::Code;
use std::error::Error;
use std::sync::Arc;

/// There are no credentials, so a request was not sent. It is among the sources of the error that the request ends with. With the
/// feature `tonic`, that error is a `tonic::Status` with its code.
#[derive(Debug, Clone)]
pub struct CredentialsError {
    code: Code,
    reason: Arc<dyn Error + Send + Sync>,
}

impl CredentialsError {
    /// The error of a source of credentials. A request without credentials was not sent: it is retried if the code is retryable.
    #[must_use]
    pub fn new(code: Code, reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { code, reason: reason.into().into() }
    }

    /// The code that the request ends with.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Why there are none, as the source of the credentials said it.
    #[must_use]
    pub fn reason(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.reason
    }
}

#[cfg(feature = "tonic")]
impl From<tonic::Status> for CredentialsError {
    fn from(status: tonic::Status) -> Self {
        Self::new(Code::from_wire(status.code() as i32), status)
    }
}

/// `UNAUTHENTICATED`: what the source gave can be in no header.
impl From<HeaderError> for CredentialsError {
    fn from(error: HeaderError) -> Self {
        Self::new(Code::Unauthenticated, error)
    }
}

gax_text::error_text! { self: CredentialsError => Some(&*self.reason), "there are no credentials for the request" }

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

gax_text::error_text! {
    HeaderError { what },
    "{what} is empty or has characters that a header may not have; use visible ASCII"
}
