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
    let mut link = Some(error);
    while let Some(current) = link {
        if let Some(error) = current.downcast_ref::<hyper_util::client::legacy::Error>() {
            if error.is_connect() {
                return Some(TransportFailure::Connect);
            }
            // Faults of requests that the client does not take have no cause.
            error.source()?;
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
                return Some(TransportFailure::Timeout);
            }
        }
        if let Some(error) = current.downcast_ref::<hyper::Error>() {
            if error.is_user() {
                return None;
            }
            if error.is_timeout() {
                return Some(TransportFailure::Timeout);
            }
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
    Some(broken)
}

fn of_io(kind: io::ErrorKind) -> Option<TransportFailure> {
    match kind {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::AddrNotAvailable => Some(TransportFailure::Connect),
        io::ErrorKind::TimedOut => Some(TransportFailure::Timeout),
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
            (Kind::TimedOut, TransportFailure::Timeout, TransportFailure::Timeout),
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
