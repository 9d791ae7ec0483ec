//! The end of work that no caller waits for any longer.

use std::fmt;

/// The request that the work was done for has ended, so that the work was stopped.
///
/// As a [`tonic::Status`] it is `CANCELLED`.
///
/// # Examples
///
/// ```
/// use gax_driver::inbound::Inbound;
///
/// # async fn handler() -> Result<(), tonic::Status> {
/// let lookup = tokio::spawn(Inbound::current().scope(async { "found" }));
/// let found = lookup.await.map_err(|error| tonic::Status::internal(error.to_string()))??;
/// # assert_eq!(found, "found");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestEnded;

impl fmt::Display for RequestEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request that this belongs to has ended")
    }
}

impl std::error::Error for RequestEnded {}

#[cfg(feature = "tonic")]
impl From<RequestEnded> for tonic::Status {
    fn from(ended: RequestEnded) -> Self {
        Self::cancelled(ended.to_string())
    }
}
