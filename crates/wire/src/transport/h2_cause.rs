//! The cause of an HTTP/2 error, by who raised it.

use crate::transport::chain::BoxError;
use std::error::Error;

/// Who ended a stream or its connection, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum H2Cause {
    /// The server has not looked at the stream: `REFUSED_STREAM`, or a GOAWAY, which h2 reports only to streams above the
    /// last one that the server has taken.
    Refused,
    /// Our own HTTP/2 stack has closed the connection, for the response to this request or to another one on it.
    ConnectionClosed,
    /// Our own HTTP/2 stack has reset the stream: the response breaks the rules.
    Unreadable,
    /// HTTP/2 can't express the request, or its body failed, at which the client itself reset the stream.
    Request,
    /// The server has reset the stream, or the connection broke.
    Broken,
}

impl H2Cause {
    /// The cause of a link of a chain of errors, if it is one of HTTP/2. Without the feature `http2`, none is.
    #[must_use]
    #[cfg_attr(not(feature = "http2"), expect(unused_variables, reason = "no error is one of HTTP/2"))]
    pub fn of(link: &(dyn Error + 'static)) -> Option<Self> {
        #[cfg(feature = "http2")]
        return link.downcast_ref().map(|error: &h2::Error| Self::from(error));
        #[cfg(not(feature = "http2"))]
        return None;
    }
}

/// The source that the error of a request's body needs for an HTTP/2 client to reset the stream with CANCEL.
#[must_use]
pub fn cancel() -> Option<BoxError> {
    #[cfg(feature = "http2")]
    return Some(h2::Error::from(h2::Reason::CANCEL).into());
    #[cfg(not(feature = "http2"))]
    return None;
}

#[cfg(feature = "http2")]
impl From<&h2::Error> for H2Cause {
    fn from(error: &h2::Error) -> Self {
        // h2 has no method for errors that the program raised: they are those that are neither remote nor of the library.
        match error.reason() {
            _ if error.is_go_away() && !error.is_remote() => Self::ConnectionClosed,
            _ if error.is_reset() && error.is_library() => Self::Unreadable,
            _ if error.is_reset() && !error.is_remote() => Self::Request,
            Some(h2::Reason::REFUSED_STREAM) => Self::Refused,
            _ if error.is_go_away() => Self::Refused,
            None if !error.is_io() => Self::Request,
            _ => Self::Broken,
        }
    }
}
