//! Credentials that can't be had.

use super::header_error::HeaderError;
use gax_retry::Code;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// The error of any service or source.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

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

    /// The error of a request that the service below has failed: a connection that doesn't send credentials says so by this.
    pub(super) fn find(error: BoxError) -> BoxError {
        let mut link: Option<&(dyn Error + 'static)> = Some(&*error);
        while let Some(current) = link {
            if let Some(found) = current.downcast_ref::<Self>() {
                return found.clone().into_error();
            }
            link = current.source();
        }
        error
    }

    /// The error of the request.
    #[cfg(not(feature = "tonic"))]
    pub(super) fn into_error(self) -> BoxError {
        self.into()
    }

    /// The error of the request: the status that the source gave, or one of its code.
    #[cfg(feature = "tonic")]
    pub(super) fn into_error(self) -> BoxError {
        use tonic::Status;
        let reason: &(dyn Error + 'static) = &*self.reason;
        let mut status = match reason.downcast_ref::<Status>() {
            Some(said) => {
                let (details, metadata) = (said.details().to_vec().into(), said.metadata().clone());
                Status::with_details_and_metadata(said.code(), said.message(), details, metadata)
            }
            None => Status::new(tonic::Code::from_i32(self.code as i32), self.reason.to_string()),
        };
        status.set_source(Arc::new(self));
        status.into()
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
