//! Addresses that can't be used.

use std::error::Error;
use std::fmt;

/// Why a [`ServiceEndpoint`](crate::google::ServiceEndpoint) can't be used: what is wrong, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointError {
    message: String,
}

impl EndpointError {
    pub(super) fn new(source: &str, value: &str, problem: &str) -> Self {
        Self { message: format!("{source} is {value:?}, which {problem}") }
    }

    /// tonic does not take the address.
    pub(super) fn of_transport(address: &str, error: &tonic::transport::Error) -> Self {
        Self { message: format!("tonic can't use the address {address}: {error}") }
    }
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for EndpointError {}
