//! The credentials that a request was sent with.

use super::hook::Credentials;

/// The credentials that a request was sent with which its server has refused, in the extensions of the response.
#[derive(Debug, Clone)]
pub(crate) struct UsedCredentials {
    pub(super) credentials: Credentials,
    /// The number of their fetch.
    pub(super) number: u64,
}

impl UsedCredentials {
    /// Drops them, unless that was done lately. Returns whether the request is worth sending again.
    pub(crate) fn refuse(&self) -> bool {
        self.credentials.refused(self.number)
    }
}
