//! The failure of an attempt, and the trailers that an operation ends with.

use bytes::Bytes;
use gax_driver::OperationReport;
use gax_driver::inbound::RequestEnded;
use gax_driver::protocol::{Policy, Stop};
use gax_retry::{Code, StopReason};
use gax_wire::__private::end_text;
use grpc::core::{ResponseHeaders, Trailers};
use grpc::{StatusCodeError, StatusError};
use std::time::Duration;

/// How an attempt failed.
pub(crate) struct Failure {
    pub(crate) code: Code,
    kind: Kind,
    /// The last status of a server, if this attempt got none.
    said: Option<Trailers>,
    /// `true` if the operation ends with it, whatever fails later, unless an attempt in flight succeeds.
    pub(crate) is_held: bool,
    /// The headers and the message that came before it, until another attempt is sent.
    pub(crate) headers: Option<ResponseHeaders>,
    pub(crate) message: Option<Bytes>,
}

enum Kind {
    /// The server sent a status, or the transport made one.
    Status(Trailers),
    /// Our own clock ended it after that time.
    TimedOut(Duration),
}

impl Failure {
    pub(crate) fn status(code: Code, trailers: Trailers) -> Self {
        Self::new(code, Kind::Status(trailers))
    }

    pub(crate) fn timed_out(timeout: Duration) -> Self {
        Self::new(Code::DeadlineExceeded, Kind::TimedOut(timeout))
    }

    fn new(code: Code, kind: Kind) -> Self {
        Self { code, kind, said: None, is_held: false, headers: None, message: None }
    }

    /// Keeps the last status of a server from the failure before this one.
    pub(crate) fn follow(&mut self, before: Option<Self>) {
        if let (Kind::TimedOut(_), Some(before)) = (&self.kind, before) {
            self.said = match before.kind {
                Kind::Status(trailers) => Some(trailers),
                Kind::TimedOut(_) => before.said,
            };
        }
    }
}

/// The trailers of a status that no server sent.
pub(crate) fn trailers(code: StatusCodeError, message: impl Into<String>) -> Trailers {
    Trailers::new(Err(StatusError::new(code, message)))
}

/// The trailers of an operation whose last attempt ended with that failure.
pub(crate) fn at_end(
    failure: Option<Failure>,
    policy: &Policy,
    stop: Stop,
    report: &OperationReport,
) -> Trailers {
    if stop.reason() == StopReason::Cancelled {
        return trailers(StatusCodeError::Cancelled, RequestEnded::default().to_string());
    }
    let Some(failure) = failure else {
        return match policy.problem() {
            Some(problem) => trailers(StatusCodeError::InvalidArgument, problem.to_string()),
            None => late(end_text::no_time(report), None),
        };
    };
    match failure.kind {
        Kind::Status(status) if stop.is_at_deadline() && failure.code != Code::DeadlineExceeded => {
            late(end_text::at_deadline(report), Some(status))
        }
        Kind::Status(status) => status,
        Kind::TimedOut(timeout) => late(end_text::timed_out(report, timeout), failure.said),
    }
}

/// The trailers of an operation that a clock ended, with the last status of the server.
fn late(mut message: String, said: Option<Trailers>) -> Trailers {
    let Some(said) = said else { return trailers(StatusCodeError::DeadlineExceeded, message) };
    if let Err(status) = said.status() {
        end_text::add_last_response(&mut message, Code::from_wire(status.code() as i32), status.message());
    }
    trailers(StatusCodeError::DeadlineExceeded, message).with_metadata(said.metadata().clone())
}
