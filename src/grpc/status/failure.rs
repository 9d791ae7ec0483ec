//! An attempt that failed, kept unchanged until its status is needed.

use crate::grpc::status::code_ext::CodeExt as _;
use crate::grpc::status::headers::StatusHeaders;
use crate::grpc::status::{cause, received, server_delay};
use gax_driver::inbound::RequestEnded;
use gax_driver::{OperationError, OperationReport};
use gax_retry::operation::Stop;
use gax_retry::{Code, ServerDelay, SettingsError, StopReason};
use gax_wire::__private::{FrameBuffer, end_text, explain};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, StatusCode};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tonic::Status;
use tonic::codegen::StdError;

/// How an attempt failed. To make a [`Status`] costs several allocations, so that is done for the last
/// attempt only.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    /// The operation ends with it, whatever fails after it, unless an attempt in flight has a reply.
    pub is_held: bool,
    kind: Kind,
    /// The last response of a server, before an attempt that got no response.
    said: Option<Box<Failure>>,
    /// Messages that came before it, as long as no other attempt has been sent.
    messages: Option<Messages>,
}

/// The head of a response, and messages that came before it failed.
pub(crate) type Messages = Box<http::Response<FrameBuffer>>;

#[derive(Debug)]
enum Kind {
    /// The server sent a status: alone, in the headers, or after `head`, in trailers.
    Status { head: Option<Box<StatusHeaders>>, trailers: StatusHeaders },
    /// The response has no `grpc-status`.
    WithoutStatus { http: StatusCode, headers: StatusHeaders },
    /// No response, or half of one.
    Transport(StdError),
    /// Our own clock ended it.
    TimedOut { timeout: Duration },
    /// There was no time to make it.
    NoTime,
    /// The operation's deadline passed after it.
    AtDeadline,
}

impl Failure {
    fn new(code: Code, kind: Kind) -> Self {
        Self { code, is_held: false, kind, said: None, messages: None }
    }

    /// It came behind those messages.
    pub fn put_behind(&mut self, messages: Option<Messages>) {
        self.messages = messages;
    }

    /// The messages that its caller could have read.
    pub fn take_messages(&mut self) -> Option<Messages> {
        self.messages.take()
    }

    /// It came after an attempt that failed before it: what a server said there is not forgotten.
    pub fn follow(&mut self, mut before: Option<Box<Failure>>) {
        if let Some(before) = &mut before
            && self.messages.is_none()
        {
            self.messages = before.take_messages();
        }
        let is_response =
            |failure: &Failure| matches!(failure.kind, Kind::Status { .. } | Kind::WithoutStatus { .. });
        if !is_response(self) {
            self.said = match before {
                Some(before) if !is_response(&before) => before.said,
                before => before,
            };
        }
    }

    /// The status that the server sent, in sanitized headers.
    #[inline]
    pub fn by_server(code: Code, head: Option<HeaderMap>, trailers: HeaderMap) -> Self {
        let head = head.map(|head| Box::new(StatusHeaders::from(head)));
        Self::new(code, Kind::Status { head, trailers: trailers.into() })
    }

    pub fn without_status(http: StatusCode, headers: HeaderMap) -> Self {
        Self::new(received::code_of_http(http), Kind::WithoutStatus { http, headers: headers.into() })
    }

    /// An error of the service or of the response's body, and what it means.
    pub(crate) fn transport(error: StdError, progress: cause::Progress) -> (Self, cause::Classification) {
        let classification = cause::classify(&*error, progress);
        (Self::new(classification.code, Kind::Transport(error)), classification)
    }

    /// The response of a unary RPC has a second message.
    #[cold]
    pub fn two_messages() -> Self {
        let status = Status::internal("the response of a unary RPC has more than one message");
        Self::new(Code::Internal, Kind::Transport(status.into()))
    }

    /// The caller has waited for a message of a stream for too long.
    pub fn waited() -> Self {
        let status = Status::aborted("the stream was cancelled: no message came within the wait timeout");
        Self::new(Code::Aborted, Kind::Transport(status.into()))
    }

    /// The server has ended a stream that continues over another connection.
    pub fn ended_by_server() -> Self {
        let status = Status::unavailable("the server ended the stream");
        Self::new(Code::Unavailable, Kind::Transport(status.into()))
    }

    /// The caller of a stream has left it alone for too long.
    pub fn left_alone() -> Self {
        let text = "the stream was cancelled: its messages were not read within the idle timeout";
        Self::new(Code::Aborted, Kind::Transport(Status::aborted(text).into()))
    }

    pub fn timed_out(timeout: Duration) -> Self {
        Self::new(Code::DeadlineExceeded, Kind::TimedOut { timeout })
    }

    /// The caller's deadline had passed before the first attempt.
    pub fn no_time() -> Self {
        Self::new(Code::DeadlineExceeded, Kind::NoTime)
    }

    /// The call's own settings can't be used.
    pub fn invalid(problem: &SettingsError) -> Self {
        let status = Status::invalid_argument(problem.to_string());
        Self::new(Code::InvalidArgument, Kind::Transport(status.into()))
    }

    /// The request did not come to its end in the operation's time.
    pub fn unread() -> Self {
        let status = Status::deadline_exceeded("the request's body did not end in time");
        Self::new(Code::DeadlineExceeded, Kind::Transport(status.into()))
    }

    /// The request has ended that the operation's thread works for.
    #[cold]
    pub fn request_ended() -> Self {
        Self::new(Code::Cancelled, Kind::Transport(Status::from(RequestEnded::default()).into()))
    }

    /// The operation's deadline passed while it waited for another attempt.
    pub fn at_deadline() -> Self {
        Self::new(Code::DeadlineExceeded, Kind::AtDeadline)
    }

    /// The failure that an operation ends with, whose last attempt failed with that one.
    pub fn at_end(last: Option<Box<Self>>, problem: Option<&SettingsError>, stop: Stop) -> Self {
        match last {
            before if stop.reason() == StopReason::Cancelled => {
                let mut ended = Self::request_ended();
                ended.follow(before);
                ended
            }
            Some(failure) if stop.is_at_deadline() && failure.code != Code::DeadlineExceeded => {
                let mut late = Self::at_deadline();
                late.follow(Some(failure));
                late
            }
            Some(failure) => *failure,
            None => problem.map_or_else(Self::no_time, Self::invalid),
        }
    }

    /// Returns whether the server's own clock for the call may have ended it.
    pub fn is_server_timeout(&self) -> bool {
        match &self.kind {
            Kind::Status { trailers: StatusHeaders::Map(trailers), .. } => {
                let message = || trailers.get(Status::GRPC_MESSAGE).map(HeaderValue::as_bytes);
                end_text::is_timeout_expired(self.code, message)
            }
            // hyper hides a reset of the body that gives no reason behind an early end.
            Kind::WithoutStatus { http, .. } => *http == StatusCode::OK,
            Kind::Status { .. }
            | Kind::Transport(_)
            | Kind::TimedOut { .. }
            | Kind::NoTime
            | Kind::AtDeadline => false,
        }
    }

    /// The wait that the response asks for.
    pub fn server_delay(&self) -> ServerDelay {
        match &self.kind {
            Kind::Status { trailers: StatusHeaders::Map(trailers), .. } => {
                server_delay::in_trailers(trailers)
            }
            Kind::WithoutStatus { http, headers: StatusHeaders::Map(headers) } if *http != StatusCode::OK => {
                server_delay::in_http_error(headers)
            }
            _ => ServerDelay::None,
        }
    }

    /// Releases memory that is not needed, before a wait.
    pub fn pack(&mut self) {
        match &mut self.kind {
            Kind::Status { head, trailers } => {
                trailers.pack();
                if let Some(head) = head {
                    head.pack();
                }
            }
            Kind::WithoutStatus { headers, .. } => headers.pack(),
            Kind::Transport(_) | Kind::TimedOut { .. } | Kind::NoTime | Kind::AtDeadline => {}
        }
        if let Some(said) = &mut self.said {
            said.pack();
        }
    }

    /// The status of this attempt alone, for those who decide what follows from it.
    pub fn peek(&self) -> Status {
        let status = match &self.kind {
            Kind::Status { head, trailers } => {
                let head = head.as_ref().map(|head| head.to_map());
                received::status(head, &trailers.to_map())
            }
            Kind::WithoutStatus { http, headers } => received::status_of_http(*http, headers.to_map()),
            Kind::Transport(error) => match error.downcast_ref::<Status>() {
                Some(status) => status.clone(),
                None => Status::unknown(explain(&**error)),
            },
            Kind::TimedOut { .. } | Kind::NoTime | Kind::AtDeadline => {
                Status::deadline_exceeded("the attempt timed out")
            }
        };
        of_code(status, self.code)
    }

    /// The status that the operation ends with: this failure's code, message, details and metadata, and
    /// behind it the report.
    pub fn into_status(self, report: OperationReport) -> Status {
        let code = self.code;
        let (mut status, cause) = match self.kind {
            Kind::Status { head, trailers } => (status(head, trailers), None),
            Kind::WithoutStatus { http, headers } => {
                (received::status_of_http(http, headers.into_map()), None)
            }
            Kind::Transport(error) if code == Code::DeadlineExceeded && self.said.is_some() => {
                deadline_exceeded(explain(&*error), self.said)
            }
            Kind::Transport(error) => of_error(error),
            Kind::TimedOut { timeout } => deadline_exceeded(end_text::timed_out(&report, timeout), self.said),
            Kind::AtDeadline => deadline_exceeded(end_text::at_deadline(&report), self.said),
            Kind::NoTime => (Status::deadline_exceeded(end_text::no_time(&report)), None),
        };
        status = of_code(status, code);
        status.set_source(Arc::new(OperationError::new(report, cause)));
        status
    }
}

/// The status, under that code.
fn of_code(mut status: Status, code: Code) -> Status {
    if status.code() == received::tonic_code(code) {
        return status;
    }
    Status::with_details_and_metadata(
        received::tonic_code(code),
        status.message().to_owned(),
        bytes::Bytes::copy_from_slice(status.details()),
        std::mem::take(status.metadata_mut()),
    )
}

/// The status that a server sent.
fn status(head: Option<Box<StatusHeaders>>, trailers: StatusHeaders) -> Status {
    received::status(head.map(|head| head.into_map()), &trailers.into_map())
}

/// The status of an operation without an attempt, since its request could not be written.
pub fn not_sent(status: Status, method: PathAndQuery) -> Status {
    with_report(status, OperationReport::unsendable(method))
}

/// The status that an operation of that report ends with.
pub(crate) fn with_report(status: Status, report: OperationReport) -> Status {
    Failure::transport(status.into(), cause::Progress::Sent).0.into_status(report)
}

/// An error's cause, as the operation's error keeps it.
type Cause = Option<Arc<dyn Error + Send + Sync>>;

fn of_error(error: StdError) -> (Status, Cause) {
    match error.downcast::<Status>() {
        Ok(status) if status.source().is_none() => (*status, None),
        Ok(status) => {
            let cause: Arc<dyn Error + Send + Sync> = Arc::new((*status).clone());
            (*status, Some(cause))
        }
        Err(error) => (Status::unknown(explain(&*error)), Some(Arc::from(error))),
    }
}

/// The status of an operation that a clock ended. What the server said before is not lost behind it.
fn deadline_exceeded(mut message: String, said: Option<Box<Failure>>) -> (Status, Cause) {
    let said = match said.map(|said| said.kind) {
        Some(Kind::Status { head, trailers }) => status(head, trailers),
        Some(Kind::WithoutStatus { http, headers }) => received::status_of_http(http, headers.into_map()),
        _ => return (Status::deadline_exceeded(message), None),
    };
    end_text::add_last_response(&mut message, said.code().to_gax(), said.message());
    (Status::deadline_exceeded(message), Some(Arc::new(said)))
}
