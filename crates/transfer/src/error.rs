//! The error of a transfer.

use crate::progress::TransferProgress;
use crate::session::UploadSession;
use bytes::Bytes;
use gax_driver::OperationReport;
use gax_http::__private::{Broken, Part, without_url};
use gax_retry::StopReason;
use gax_retry::http::TransportFailure;
use gax_text::Escaped;
use gax_wire::__private::{BoxError, chain};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;

/// Why a transfer failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransferErrorKind {
    /// The server refused it, by a status that is not retried or for longer than the settings allow.
    Status,
    /// No connection could be made, or it broke once too often.
    Connection,
    /// The time was up: of the transfer, or of an attempt once too often.
    TimedOut,
    /// The source can't be read, or can't be read again if that is needed.
    Source,
    /// The source has other bytes than it had: it is shorter or longer than its size, or the file was written to while it was sent.
    SourceChanged,
    /// The bytes that were received can't be written, or another download is writing that file.
    Sink,
    /// The server has other bytes than were sent, or has sent other bytes than it has.
    ChecksumMismatch,
    /// The object is another one than that of which the first part was received.
    ObjectChanged,
    /// The response breaks the rules of the protocol.
    Malformed,
    /// The upload's session was cancelled, or the request has ended that this transfer is made for.
    Cancelled,
    /// The options of the transfer can't be used.
    Invalid,
    /// The state file can't be read or written, or belongs to another transfer.
    StateFile,
}

/// A transfer that failed.
///
/// It prints as a sentence, which has neither URIs of sessions nor values of headers.
///
/// # Examples
///
/// ```
/// use gax_transfer::{TransferError, TransferErrorKind};
///
/// fn is_gone(error: &TransferError) -> bool {
///     error.kind() == TransferErrorKind::Status && error.status() == Some(404)
/// }
/// ```
pub struct TransferError(Box<Parts>);

struct Parts {
    failure: Failure,
    report: Option<OperationReport>,
    transfer: TransferProgress,
    session: Option<UploadSession>,
}

/// A failure without the operation around it.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: TransferErrorKind,
    pub(super) response: Option<Box<http::Response<Bytes>>>,
    pub(super) problem: Cow<'static, str>,
    pub(super) source: Option<BoxError>,
}

impl Failure {
    pub(super) fn new(kind: TransferErrorKind, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, response: None, problem: problem.into(), source: None }
    }

    gax_text::setters! { self:
        pub(super) with_source(source: impl Into<BoxError>) => self.source = Some(source.into());

        pub(super) with_response(response: http::Response<Bytes>) => self.response = Some(Box::new(response));
    }

    /// That of a request without a response, or of one whose body ended early. The URI may be that of a session, and is left out.
    pub(super) fn of(broken: Broken, part: Part) -> Self {
        let (kind, problem, source) = match broken {
            Broken::TimedOut { after } => {
                let problem = format!("the last attempt timed out after {after:?}");
                (TransferErrorKind::TimedOut, problem.into(), None)
            }
            Broken::NoTime => (TransferErrorKind::TimedOut, "there was no time for an attempt".into(), None),
            Broken::RequestEnded => {
                let problem = "the request that this transfer belongs to has ended".into();
                (TransferErrorKind::Cancelled, problem, None)
            }
            Broken::Invalid(problem) => {
                (TransferErrorKind::Invalid, "the settings can't be used".into(), Some(problem.into()))
            }
            Broken::Failed { failure, source, .. } => {
                let is_timeout = failure == Some(TransportFailure::Timeout);
                let problem = match part {
                    Part::Body if is_timeout => "the response stalled",
                    Part::Body => "the response broke off",
                    Part::Readiness | Part::Head if is_timeout => "the last attempt timed out",
                    Part::Readiness | Part::Head => "the connection failed",
                };
                let kind =
                    if is_timeout { TransferErrorKind::TimedOut } else { TransferErrorKind::Connection };
                (kind, problem.into(), Some(without_url(source)))
            }
        };
        Self { kind, response: None, problem, source }
    }

    /// The response breaks the rules of the protocol.
    pub(super) fn malformed(problem: impl Into<Cow<'static, str>>) -> Self {
        Self::new(TransferErrorKind::Malformed, problem)
    }

    /// The server refused it by that response.
    pub(super) fn status(response: http::Response<Bytes>) -> Self {
        let problem = format!("the server responded with status {}", response.status().as_u16());
        Self::new(TransferErrorKind::Status, problem).with_response(response)
    }

    /// The error of a transfer that was never an operation.
    pub(super) fn unbegun(self) -> TransferError {
        TransferError::new(self, None, TransferProgress::default(), None)
    }
}

impl TransferError {
    pub(super) fn new(
        failure: Failure,
        report: Option<OperationReport>,
        transfer: TransferProgress,
        session: Option<UploadSession>,
    ) -> Self {
        Self(Box::new(Parts { failure, report, transfer, session }))
    }

    gax_text::getters! { self:
        /// Why it failed.
        pub kind: TransferErrorKind = self.0.failure.kind;

        /// The report of the operation; `None`: the transfer failed before its first request.
        pub report: Option<&OperationReport> = self.0.report.as_ref();

        /// Why no further attempt was made.
        pub stop_reason: Option<StopReason> = self.report().and_then(OperationReport::stop_reason);

        /// The response that it failed with, if one did. Of a long body there is only the begin.
        pub response: Option<&http::Response<Bytes>> = self.0.failure.response.as_deref();

        /// The status of that response.
        pub status: Option<u16> = self.response().map(|response| response.status().as_u16());

        /// The bytes that have gone over: of an upload those that the server has, as far as it has said so; of a download those that
        /// were written.
        pub bytes: u64 = self.0.transfer.bytes;

        /// How often it continued after a failure.
        pub resumptions: u32 = self.0.transfer.resumptions;

        /// The session by which an upload can continue, if there still is one.
        pub session: Option<&UploadSession> = self.0.session.as_ref();
    }
}

gax_text::short_debug! {
    self: TransferError { kind: self.kind(), problem: self.0.failure.problem, status: self.status(), bytes: self.bytes(), report: self.report(), source: self.0.failure.source }
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = &self.0.failure;
        if let Some(report) = self.report() {
            report.write_outcome(f)?;
            f.write_str(": ")?;
        }
        f.write_str(&failure.problem)?;
        if let Some(source) = &failure.source
            && let Some(innermost) = chain(&**source).last()
        {
            write!(f, ": {}", Escaped(innermost))?;
        }
        Ok(())
    }
}

impl Error for TransferError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.failure.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
