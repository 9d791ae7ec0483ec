//! Credentials that can't be had.

use super::header_error::HeaderError;
use gax_retry::Code;
use std::error::Error;
use std::fmt;
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

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are no credentials for the request")
    }
}

impl Error for CredentialsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.reason)
    }
}
