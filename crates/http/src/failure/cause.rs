//! The meaning of an error below HTTP, read from its chain of sources.

#[cfg(feature = "reqwest")]
use crate::reqwest::FirstHop;
use gax_driver::credentials::CredentialsError;
use gax_retry::http::TransportFailure;
use gax_retry::operation::{AttemptResult, RetryFact};
use gax_retry::{Code, StopReason};
use gax_wire::__private::{BoxError, H2Cause, LayerError, NotConnected, Reach, chain};
use gax_wire::ConnectProblem;
use hyper_util::client::legacy;
use std::error::Error;
use std::io;

/// Which part of the response was awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum Part {
    /// None: the service below is not ready to take the request.
    Readiness,
    /// Its head.
    Head,
    /// Its body.
    Body,
}

/// The meaning of an error for the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// The kind of failure; `None` if the request itself is at fault, so that another attempt doesn't help.
    pub failure: Option<TransportFailure>,
    pub reach: Reach,
    /// Our own HTTP/2 stack has closed the connection, for this response or for another one on it. If it was for
    /// this one, the response is unreadable.
    pub is_closed_by_us: bool,
    /// Why there is no connection, if the error names the reason.
    pub problem: Option<ConnectProblem>,
}

impl Cause {
    const FAULT: Self =
        Self { failure: None, reach: Reach::MaybeSent, is_closed_by_us: false, problem: None };

    /// The cause of an error with that problem of connecting, if it has one.
    fn with_problem(self, problem: Option<ConnectProblem>) -> Self {
        let cause = match problem {
            Some(ConnectProblem::IncompleteUri | ConnectProblem::UnsupportedScheme) => Self::FAULT,
            _ => self,
        };
        Self { problem, ..cause }
    }

    /// Returns whether no other attempt can do better.
    pub(crate) fn is_final(self) -> bool {
        self.problem.is_some_and(|problem| !problem.may_recover())
    }

    /// The facts of an attempt that was lost so. How far its request got counts where anything is retried at all.
    pub(crate) fn add_to(self, result: AttemptResult, may_be_retried: bool) -> AttemptResult {
        match self.reach {
            Reach::ChannelClosed => result.with_retry(RetryFact::No(StopReason::ChannelClosed)),
            _ if self.is_final() => result.with_retry(RetryFact::No(StopReason::NonRetryable)),
            reach if may_be_retried => result.with_delivery(reach.delivery()),
            _ => result,
        }
    }

    pub(crate) const UNREADABLE: Self = Self::new(TransportFailure::Unreadable, Reach::MaybeSent);

    pub(crate) const fn new(failure: TransportFailure, reach: Reach) -> Self {
        Self { failure: Some(failure), reach, is_closed_by_us: false, problem: None }
    }
}

/// Classifies an error of an attempt.
pub fn classify(error: &(dyn Error + 'static), part: Part) -> Cause {
    let mut cause = from_chain(error, part);
    if matches!(cause.failure, Some(TransportFailure::Connect | TransportFailure::Reset)) {
        cause = cause.with_problem(ConnectProblem::behind(error));
    }
    // Once a response has begun, the request was sent. If redirects are followed, this may not be the first hop.
    if part == Part::Body || may_have_been_redirected(error) {
        cause.reach = cause.reach.of_begun();
    }
    cause
}

fn from_chain(error: &(dyn Error + 'static), part: Part) -> Cause {
    let broken = match part {
        Part::Readiness => TransportFailure::Connect,
        Part::Head => TransportFailure::Reset,
        Part::Body => TransportFailure::Truncated,
    };
    let mut reach = if part == Part::Readiness { Reach::Unconnected } else { Reach::MaybeSent };
    let mut is_of_connection = false;
    #[cfg_attr(not(feature = "reqwest"), expect(unused_mut, reason = "only reqwest sets it"))]
    let mut is_of_reqwest = false;
    let mut io = None;
    for current in chain(error) {
        if let Some(error) = current.downcast_ref::<legacy::Error>() {
            if error.is_connect() {
                return Cause::new(TransportFailure::Connect, Reach::Unconnected);
            }
            if is_refused_by_client(error) {
                return Cause::FAULT;
            }
            if error.connect_info().is_none() {
                // Its connection was not ready yet.
                reach = Reach::NeverSent;
            }
        }
        #[cfg(feature = "reqwest")]
        if let Some(error) = current.downcast_ref::<reqwest::Error>() {
            if error.is_builder() || error.is_redirect() {
                return Cause::FAULT;
            }
            is_of_reqwest = true;
        }
        if let Some(error) = current.downcast_ref::<hyper::Error>() {
            if error.is_user() && !is_lost_with_connection(error) {
                return Cause::FAULT;
            }
            if error.is_canceled() || error.is_closed() {
                return Cause::new(broken, Reach::NeverSent);
            }
            if error.is_timeout() {
                // The pings of HTTP/2 that keep a connection alive got no response.
                return Cause::new(broken, reach);
            }
            if error.is_parse() {
                return Cause::UNREADABLE;
            }
            is_of_connection = true;
        }
        if let Some(cause) = H2Cause::of(current) {
            return from_h2(cause, broken, reach);
        }
        if current.is::<http::Error>()
            || current.is::<http::uri::InvalidUri>()
            || current.is::<NoBody>()
            || current.is::<BodyNotOpened>()
        {
            return Cause::FAULT;
        }
        match LayerError::of(current) {
            Some(LayerError::Closed) => {
                return Cause::new(TransportFailure::Connect, Reach::ChannelClosed);
            }
            // Nothing was sent, as where there is no connection.
            Some(LayerError::Overloaded) => {
                return Cause::new(TransportFailure::Connect, Reach::Unconnected);
            }
            Some(LayerError::TimedOut) => return Cause::new(TransportFailure::Timeout, reach),
            None => {}
        }
        // Of a connection of our own, which says so as tonic does.
        if current.is::<NotConnected>() {
            return Cause::new(TransportFailure::Connect, Reach::Unconnected);
        }
        if let Some(error) = current.downcast_ref::<CredentialsError>() {
            let is_worth_another = error.code() == Code::Unavailable;
            let failure = is_worth_another.then_some(TransportFailure::Connect);
            return Cause { failure, reach: Reach::Unconnected, ..Cause::FAULT };
        }
        #[cfg(feature = "rustls")]
        if current.is::<rustls::Error>() {
            return Cause::new(broken, reach);
        }
        if let Some(error) = current.downcast_ref::<io::Error>() {
            io.get_or_insert(error.kind());
        }
    }
    match io {
        Some(io::ErrorKind::Other) if is_of_reqwests_clock(error) => {}
        Some(kind) if is_reset(kind) => return Cause::new(TransportFailure::Reset, reach),
        Some(kind) if part == Part::Head && !is_of_connection && is_of_connecting(kind) => {
            return Cause::new(TransportFailure::Connect, Reach::Unconnected);
        }
        // Of reqwest's decoders, where it is none of the connection below it.
        Some(io::ErrorKind::Other) if part == Part::Body && is_of_reqwest && !is_of_connection => {
            return Cause::UNREADABLE;
        }
        Some(kind) if part == Part::Body && is_of_decoding(kind) => return Cause::UNREADABLE,
        Some(_) => return Cause::new(broken, reach),
        None => {}
    }
    Cause::new(if is_of_reqwests_clock(error) { TransportFailure::Timeout } else { broken }, reach)
}

/// The cause of an HTTP/2 error.
fn from_h2(cause: H2Cause, broken: TransportFailure, reach: Reach) -> Cause {
    match cause {
        H2Cause::Request => Cause::FAULT,
        H2Cause::Unreadable => Cause::UNREADABLE,
        H2Cause::ConnectionClosed => Cause { is_closed_by_us: true, ..Cause::new(broken, reach) },
        H2Cause::Refused => Cause::new(broken, Reach::Refused),
        H2Cause::Broken => Cause::new(broken, reach),
    }
}

/// Returns whether reqwest's own clock ended the request, if no connection is found below that timed out.
#[cfg(feature = "reqwest")]
fn is_of_reqwests_clock(error: &(dyn Error + 'static)) -> bool {
    chain(error).filter_map(|link| link.downcast_ref::<reqwest::Error>()).any(reqwest::Error::is_timeout)
}

#[cfg(not(feature = "reqwest"))]
fn is_of_reqwests_clock(_: &(dyn Error + 'static)) -> bool {
    false
}

/// Returns whether the error may speak of a later hop than the first: the client below follows redirects, so that what is known
/// of its last request need not hold for those before.
#[cfg(feature = "reqwest")]
fn may_have_been_redirected(error: &(dyn Error + 'static)) -> bool {
    let is_unknown_hop = |link: &(dyn Error + 'static)| {
        if link.is::<FirstHop>() { Some(false) } else { link.is::<reqwest::Error>().then_some(true) }
    };
    chain(error).find_map(is_unknown_hop).unwrap_or(false)
}

#[cfg(not(feature = "reqwest"))]
fn may_have_been_redirected(_: &(dyn Error + 'static)) -> bool {
    false
}

/// Returns whether hyper-util's client takes no such request: no absolute URI, or an HTTP version or method that it
/// doesn't speak. Nothing but its text tells these from a request that lost its place in the pool, which has no
/// source either.
fn is_refused_by_client(error: &legacy::Error) -> bool {
    error.source().is_none() && error.to_string().starts_with("client error (User")
}

/// Returns whether the task that drives the connection was gone before it had a response for the request. That is what
/// a request hears that waits for a free stream (the server's `MAX_CONCURRENT_STREAMS`) when its connection ends.
/// hyper counts it among the mistakes of its users, and nothing but the text tells it from theirs.
fn is_lost_with_connection(error: &hyper::Error) -> bool {
    error.to_string().starts_with("dispatch task is gone")
}

/// Errors of sockets that could not connect.
fn is_of_connecting(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::AddrNotAvailable
    )
}

/// Errors of those who unpack a body: chunks, compression.
fn is_of_decoding(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)
}

fn is_reset(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
    )
}

/// A body promised to be sent again and did not.
#[derive(Debug)]
pub(crate) struct NoBody;

gax_text::error_text! { NoBody {}, "the request's body can't be created again, although it could before" }

/// The request's body could not be opened, so that nothing was sent.
#[derive(Debug)]
pub(crate) struct BodyNotOpened(pub(crate) BoxError);

impl BodyNotOpened {
    /// The error as the body gave it.
    pub(crate) fn unwrap(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(error) => error.0,
            Err(error) => error,
        }
    }
}

gax_text::error_text! { self: BodyNotOpened => Some(&*self.0), "the request's body can't be opened" }

#[cfg(test)]
mod tests {
    use super::*;

    const RESET: TransportFailure = TransportFailure::Reset;
    const TRUNCATED: TransportFailure = TransportFailure::Truncated;

    #[test]
    fn kinds_of_io_errors() {
        use io::ErrorKind as Kind;
        let unconnected = Cause::new(TransportFailure::Connect, Reach::Unconnected);
        for (kind, in_head, in_body) in [
            (Kind::ConnectionRefused, unconnected, TRUNCATED),
            (Kind::NetworkUnreachable, unconnected, TRUNCATED),
            (Kind::TimedOut, Cause::new(RESET, Reach::MaybeSent), TRUNCATED),
            (Kind::ConnectionReset, Cause::new(RESET, Reach::MaybeSent), RESET),
            (Kind::UnexpectedEof, Cause::new(RESET, Reach::MaybeSent), TRUNCATED),
        ] {
            let error = io::Error::from(kind);
            assert_eq!(classify(&error, Part::Head), in_head, "{kind}");
            assert_eq!(classify(&error, Part::Body), Cause::new(in_body, Reach::MaybeSent), "{kind}");
        }
    }

    #[test]
    fn what_nobody_knows_broke_and_the_callers_faults_are_final() {
        assert_eq!(classify(&std::fmt::Error, Part::Head), Cause::new(RESET, Reach::MaybeSent));
        let fault = http::Error::from(http::Uri::try_from("http:// ").unwrap_err());
        assert_eq!(classify(&fault, Part::Head), Cause::FAULT);
        assert_eq!(classify(&NoBody, Part::Head), Cause::FAULT);
    }
}
