//! Credentials that can't be had.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tonic::Status;
use tonic::codegen::StdError;

/// There are no credentials, so that a request was not sent. It stands among the sources of the [`Status`] that the request ends
/// with.
#[derive(Debug, Clone)]
pub struct CredentialsError(Status);

impl CredentialsError {
    pub(super) fn new(status: Status) -> Self {
        Self(status)
    }

    /// Why there are none, as the source of the credentials said it.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.0
    }

    /// The error of a request that the service below has failed: a connection that doesn't send credentials says so by this.
    pub(super) fn find(error: StdError) -> StdError {
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
    pub(super) fn into_error(self) -> StdError {
        let Self(said) = &self;
        let (details, metadata) = (said.details().to_vec().into(), said.metadata().clone());
        let mut status = Status::with_details_and_metadata(said.code(), said.message(), details, metadata);
        status.set_source(Arc::new(self));
        status.into()
    }
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are no credentials for the request")
    }
}

impl Error for CredentialsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}
