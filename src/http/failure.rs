//! What an error below HTTP means, read from its chain of sources.

use gax_retry::TransportFailure;
use std::error::Error;
use std::io;

/// Which part of the answer was awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Its head.
    Head,
    /// Its body.
    Body,
}

/// The kind of failure; `None` if the fault is the caller's own, so that another attempt is no use.
pub(super) fn classify(error: &(dyn Error + 'static), part: Part) -> Option<TransportFailure> {
    let broken = match part {
        Part::Head => TransportFailure::Reset,
        Part::Body => TransportFailure::Truncated,
    };
    let mut otherwise = broken;
    let mut link = Some(error);
    while let Some(current) = link {
        if let Some(error) = current.downcast_ref::<hyper_util::client::legacy::Error>() {
            if error.is_connect() {
                return Some(TransportFailure::Connect);
            }
            if is_refused_by_client(error) {
                return None;
            }
        }
        #[cfg(feature = "reqwest")]
        if let Some(error) = current.downcast_ref::<reqwest::Error>() {
            if error.is_builder() || error.is_redirect() {
                return None;
            }
            if error.is_connect() {
                return Some(TransportFailure::Connect);
            }
            if error.is_timeout() {
                // Its own clock, unless a connection is found below that timed out, which is a broken one.
                otherwise = TransportFailure::Timeout;
            }
        }
        if let Some(error) = current.downcast_ref::<hyper::Error>() {
            if error.is_user() && !is_lost_with_connection(error) {
                return None;
            }
            if error.is_timeout() {
                // The pings of HTTP/2 that keep a connection alive got no response.
                return Some(broken);
            }
        }
        if let Some(error) = current.downcast_ref::<h2::Error>()
            && is_refused_by_h2(error)
        {
            return None;
        }
        if current.is::<http::Error>() || current.is::<http::uri::InvalidUri>() {
            return None;
        }
        if current.is::<tokio::time::error::Elapsed>() {
            return Some(TransportFailure::Timeout);
        }
        if let Some(error) = current.downcast_ref::<io::Error>() {
            return Some(of_io(error.kind()).unwrap_or(broken));
        }
        link = current.source();
    }
    Some(otherwise)
}

/// Whether hyper-util's client takes no such request: no absolute URI, or an HTTP version or method that it
/// doesn't speak. Nothing but its text tells these from a request that lost its place in the pool, which has no
/// source either.
fn is_refused_by_client(error: &hyper_util::client::legacy::Error) -> bool {
    error.source().is_none() && error.to_string().starts_with("client error (User")
}

/// Whether the task that drives the connection was gone before it had a response for the request. That is what
/// a request hears that waits for a free stream (the server's `MAX_CONCURRENT_STREAMS`) when its connection ends.
/// hyper counts it among the mistakes of its users, and nothing but the text tells it from theirs.
fn is_lost_with_connection(error: &hyper::Error) -> bool {
    error.to_string().starts_with("dispatch task is gone")
}

/// Whether HTTP/2 can't express the request, or its body failed, at which the client itself reset the stream.
fn is_refused_by_h2(error: &h2::Error) -> bool {
    let is_ours = !error.is_remote() && !error.is_library();
    is_ours && (error.is_reset() || (error.reason().is_none() && !error.is_io()))
}

fn of_io(kind: io::ErrorKind) -> Option<TransportFailure> {
    match kind {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::AddrNotAvailable => Some(TransportFailure::Connect),
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
            Some(TransportFailure::Reset)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_io_errors() {
        use io::ErrorKind as Kind;
        for (kind, in_head, in_body) in [
            (Kind::ConnectionRefused, TransportFailure::Connect, TransportFailure::Connect),
            (Kind::TimedOut, TransportFailure::Reset, TransportFailure::Truncated),
            (Kind::ConnectionReset, TransportFailure::Reset, TransportFailure::Reset),
            (Kind::UnexpectedEof, TransportFailure::Reset, TransportFailure::Truncated),
        ] {
            let error = io::Error::from(kind);
            assert_eq!(classify(&error, Part::Head), Some(in_head), "{kind}");
            assert_eq!(classify(&error, Part::Body), Some(in_body), "{kind}");
        }
    }

    #[test]
    fn what_nobody_knows_broke_and_the_callers_faults_are_final() {
        assert_eq!(classify(&std::fmt::Error, Part::Head), Some(TransportFailure::Reset));
        let fault = http::Error::from(http::Uri::try_from("http:// ").unwrap_err());
        assert_eq!(classify(&fault, Part::Head), None);
    }
}
