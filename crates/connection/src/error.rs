//! Errors of connections.

use gax_driver::observe::Peer;
use gax_wire::__private::NotConnected;
use std::borrow::Cow;
use tonic::ConnectError;
use tonic::codegen::StdError;

/// Why a connection can't be made, or a call over it failed.
///
/// tonic's clients and the retry layer make a status of it: without a connection it is `UNAVAILABLE`.
///
/// The error of a call says the cause by its sources, as a status and a report do; one of
/// [`connect`](super::ConnectionBuilder::connect) by its own text.
#[derive(Debug)]
pub struct ConnectionError {
    text: Cow<'static, str>,
    peer: Option<Peer>,
    source: Option<StdError>,
}

impl ConnectionError {
    /// It is not configured so that it could ever be made.
    pub(crate) fn unusable(cause: impl Into<StdError>) -> Self {
        Self::unmade(&NotConnected::from(cause.into()))
    }

    /// None could be made.
    pub(crate) fn unmade(error: &NotConnected) -> Self {
        Self { text: format!("no connection: {error}").into(), peer: None, source: None }
    }

    /// The call has none, for that reason.
    pub(crate) fn refused(source: impl Into<StdError>) -> Self {
        Self { text: "no connection".into(), peer: None, source: Some(source.into()) }
    }

    /// The call has none, since none could be made.
    pub(crate) fn unconnected(error: &NotConnected) -> Self {
        Self::refused(ConnectError(Box::new(error.clone())))
    }

    /// The one to that peer failed.
    pub(crate) fn of(peer: &Peer, source: hyper::Error) -> Self {
        let text = format!("the connection to {} failed", peer.as_str());
        Self { text: text.into(), peer: Some(peer.clone()), source: Some(Box::new(source)) }
    }

    /// The address of the server that the call went to, as text; `None`: it went to none.
    #[must_use]
    pub fn peer(&self) -> Option<&str> {
        self.peer.as_ref().map(Peer::as_str)
    }
}

gax_text::error_text! { self: ConnectionError => self.source.as_deref().map(|source| source as _), "{}", self.text }
