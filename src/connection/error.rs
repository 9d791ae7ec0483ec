//! Errors of connections.

use gax_driver::observe::Peer;
use gax_wire::__house::{NotConnected, chain};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tonic::ConnectError;
use tonic::codegen::StdError;

/// Why a connection can't be made, or a call over it failed.
///
/// tonic's clients and the retry layer make a status of it: without a connection it is `UNAVAILABLE`.
pub struct ConnectionError {
    peer: Option<Peer>,
    source: StdError,
}

impl ConnectionError {
    /// It is not configured so that it could ever be made.
    pub(crate) fn unusable(source: impl Into<StdError>) -> Self {
        Self { peer: None, source: source.into() }
    }

    /// There is none.
    pub(crate) fn unconnected(error: &SharedError) -> Self {
        Self { peer: None, source: Box::new(ConnectError(Box::new(NotConnected::new(error.clone())))) }
    }

    /// The one to that peer failed.
    pub(crate) fn of(peer: &Peer, source: hyper::Error) -> Self {
        Self { peer: Some(peer.clone()), source: Box::new(source) }
    }

    /// The address of the server that the call went to, as text; `None`: it went to none.
    #[must_use]
    pub fn peer(&self) -> Option<&str> {
        self.peer.as_ref().map(Peer::as_str)
    }
}

impl fmt::Debug for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionError").field("peer", &self.peer()).field("source", &self.source).finish()
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.peer {
            Some(peer) => write!(f, "the connection to {} failed: {}", peer.as_str(), self.source),
            None => write!(f, "no connection: {}", self.source),
        }
    }
}

impl Error for ConnectionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// An error that several calls fail with.
#[derive(Debug, Clone)]
pub(crate) struct SharedError(Arc<dyn Error + Send + Sync>);

impl From<StdError> for SharedError {
    fn from(error: StdError) -> Self {
        Self(error.into())
    }
}

impl SharedError {
    pub(crate) fn get(&self) -> &(dyn Error + 'static) {
        &*self.0
    }
}

/// An error and its sources, but for those whose text the one before has already.
pub(crate) fn text_of(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in chain(error).map(ToString::to_string) {
        if texts.last().is_none_or(|last| !last.ends_with(&text)) {
            texts.push(text);
        }
    }
    texts.join(": ")
}

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text_of(self.get()))
    }
}

impl Error for SharedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn no_text_is_shown_twice() {
        let refused = || io::Error::other(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!(text_of(&refused()), "connection refused");
        let error = ConnectionError::unconnected(&SharedError::from(StdError::from(refused())));
        assert_eq!(error.to_string(), "no connection: connection refused");
    }
}
