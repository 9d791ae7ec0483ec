//! The credentials that a request was sent with.

use super::cache::Fetched;
use super::hook::Credentials;
use http::HeaderMap;

/// The credentials that a request was sent with which its server has refused, in the extensions of the response.
#[derive(Debug, Clone)]
pub struct UsedCredentials {
    credentials: Credentials,
    /// The number of their fetch.
    number: u64,
}

impl UsedCredentials {
    /// Adds credentials to a request. `None`: its server authenticates it by its caller's own.
    pub(super) fn put(credentials: Credentials, fetched: &Fetched, headers: &mut HeaderMap) -> Option<Self> {
        fetched.headers.add_to(headers).then_some(Self { credentials, number: fetched.number })
    }

    /// Drops them, unless that was done lately. Returns whether the request is worth sending again.
    #[must_use]
    pub fn refuse(&self) -> bool {
        self.credentials.refused(self.number)
    }
}
