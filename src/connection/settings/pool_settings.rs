//! The settings of a connection, once they are checked.

use crate::connection::settings::backoff::ConnectBackoff;
use crate::connection::settings::http2::Http2;
use crate::connection::settings::picker::{Ejection, Picker};
use http::HeaderValue;
use http::uri::{Authority, Scheme};
use std::time::Duration;

/// The settings of a connection, all of them usable.
#[derive(Debug)]
pub(crate) struct PoolSettings {
    /// The scheme and authority that requests are addressed to.
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
    pub(crate) user_agent: HeaderValue,
    pub(crate) backoff: ConnectBackoff,
    pub(crate) wait_for_ready: bool,
    pub(crate) picker: Picker,
    pub(crate) ejection: Option<Ejection>,
    pub(crate) resolve_every: Option<Duration>,
    pub(crate) max_age: Option<Duration>,
    /// How many connections an endpoint may have.
    pub(crate) max_connections: usize,
    /// After how many silent attempts a connection counts as dead.
    pub(crate) silent_attempts: Option<u32>,
    pub(crate) http2: Http2,
}
