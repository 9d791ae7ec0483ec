//! The places that credentials are sent to.

use crate::credentials::error::CredentialsError;
use crate::credentials::other_origin::OtherOrigin;
use gax_retry::Code;
use http::Uri;
use std::net::IpAddr;

/// In the extensions of a request whose credentials must not be sent in plain text.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "our own crates make it")]
pub struct NoPlaintext;

/// The places that credentials are sent to.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// The universe domain of the service.
    pub(super) universe: Option<String>,
    /// Hosts of other origins than the program's own.
    pub(super) hosts: Vec<String>,
    pub(super) allows_plaintext: bool,
}

impl Scope {
    /// Returns whether a request gets credentials. A connection below checks it again, by the extension that is added here.
    ///
    /// # Errors
    ///
    /// They would be sent in plain text.
    pub(super) fn admit<B>(&self, request: &mut http::Request<B>) -> Result<bool, CredentialsError> {
        let (uri, is_other) = (request.uri(), request.extensions().get::<OtherOrigin>().is_some());
        let is_of = |host: &String| uri.host().is_some_and(|other| host.eq_ignore_ascii_case(other));
        if is_other && !self.hosts.iter().any(is_of) {
            return Ok(false);
        }
        if !self.allows_plaintext && is_plaintext(uri) {
            return Err(sent_in_plaintext(uri.host().unwrap_or_default()));
        }
        if !self.allows_plaintext {
            request.extensions_mut().insert(NoPlaintext);
        }
        Ok(true)
    }
}

/// The error of credentials that would be sent to that host in plain text.
#[must_use]
pub fn sent_in_plaintext(host: &str) -> CredentialsError {
    let problem = format!(
        "credentials would be sent to {host} in plain text: connect over TLS, or allow it \
         with Credentials::allow_plaintext"
    );
    CredentialsError::new(Code::FailedPrecondition, problem)
}

/// Returns whether a URI leads over the network in plain text.
fn is_plaintext(uri: &Uri) -> bool {
    uri.scheme_str() == Some("http") && !uri.host().is_some_and(is_loopback)
}

/// Returns whether a host is this machine.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
