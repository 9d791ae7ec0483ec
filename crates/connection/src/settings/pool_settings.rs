//! The settings of a connection, once they are checked.

use crate::error::ConnectionError;
use crate::settings::backoff::ConnectBackoff;
use crate::settings::http2::Http2;
use crate::settings::picker::{Ejection, Picker};
use gax_driver::__private::{NoPlaintext, sent_in_plaintext};
use gax_driver::credentials::Credentials;
use http::header::{Entry, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Uri};
use std::time::Duration;

/// The settings of a connection that any program may choose.
#[derive(Debug)]
pub(crate) struct ChosenSettings {
    pub(crate) backoff: ConnectBackoff,
    pub(crate) wait_for_ready: bool,
    pub(crate) picker: Picker,
    pub(crate) ejection: Option<Ejection>,
    pub(crate) resolve_every: Option<Duration>,
    pub(crate) max_age: Option<Duration>,
    /// How many connections an endpoint may have.
    pub(crate) max_connections: usize,
    /// After how many silent attempts a connection is treated as dead.
    pub(crate) silent_attempts: Option<u32>,
    pub(crate) http2: Http2,
    /// The service whose health is checked; empty: that of the whole server.
    pub(crate) health: Option<String>,
    pub(crate) health_credentials: Option<Credentials>,
}

impl Default for ChosenSettings {
    fn default() -> Self {
        Self {
            backoff: ConnectBackoff::default(),
            wait_for_ready: false,
            picker: Picker::default(),
            ejection: None,
            resolve_every: Some(Duration::from_secs(60)),
            max_age: None,
            max_connections: 4,
            silent_attempts: Some(2),
            http2: Http2::default(),
            health: None,
            health_credentials: None,
        }
    }
}

/// The settings of a connection, all of them usable.
#[derive(Debug)]
pub(crate) struct PoolSettings {
    /// The scheme and authority that requests are addressed to.
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
    /// `true` if what is sent can be read on its way.
    pub(crate) is_exposed: bool,
    pub(crate) user_agent: HeaderValue,
    pub(crate) chosen: ChosenSettings,
}

impl PoolSettings {
    /// Addresses a request to the target, and says who sends it.
    ///
    /// # Errors
    ///
    /// It has credentials, which could be read on their way.
    pub(crate) fn admit<B>(&self, mut request: Request<B>) -> Result<Request<B>, ConnectionError> {
        if self.is_exposed && request.extensions().get::<NoPlaintext>().is_some() {
            return Err(ConnectionError::refused(sent_in_plaintext(self.authority.host())));
        }
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query.get_or_insert_with(|| PathAndQuery::from_static("/"));
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
        if let Entry::Vacant(vacant) = request.headers_mut().entry(USER_AGENT) {
            vacant.insert(self.user_agent.clone());
        }
        Ok(request)
    }
}
