//! The part that is still to come of a response that was handed to the caller before its end.

use crate::grpc::response::observed_stream::ObservedStream;
use crate::grpc::status::{CodeExt as _, cause, received, with_report};
use bytes::Bytes;
use gax_driver::__private::Timer;
use gax_retry::Code;
use gax_wire::__private::OpenPart;
use http_body::{Body as _, Frame};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

/// The part that follows the buffered data of a response.
pub type Remainder = gax_wire::__private::Remainder<Incoming, Status>;

/// The part of a response that still arrives.
#[derive(Debug)]
pub enum Incoming {
    /// Nobody has the response yet.
    Unread(Body),
    /// The response was handed to the caller before its end.
    HandedOn(Box<OpenBody>),
    /// It continues over several connections.
    Resumed(ResumedPart),
}

/// A stream that continues over several connections.
pub struct ResumedPart(pub Box<dyn OpenPart<Error = Status> + Send>);

impl fmt::Debug for ResumedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumedPart").finish_non_exhaustive()
    }
}

impl Incoming {
    /// Observers are notified of what comes.
    pub fn observe(&mut self, observed: ObservedStream) {
        if let Self::HandedOn(open_body) = self {
            open_body.observed = Some(Box::new(observed));
        }
    }
}

impl OpenPart for Incoming {
    type Error = Status;

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match self {
            Self::Unread(body) => Pin::new(body).poll_frame(cx),
            Self::HandedOn(open_body) => open_body.poll_frame(cx),
            Self::Resumed(part) => part.0.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Unread(body) => body.is_end_stream(),
            Self::HandedOn(open_body) => open_body.body.is_end_stream(),
            Self::Resumed(part) => part.0.is_end_stream(),
        }
    }

    fn handing_on(&mut self, data: &[u8]) {
        if let Self::HandedOn(open_body) = self
            && let Some(observed) = &mut open_body.observed
        {
            observed.data(data);
        }
    }
}

/// The part of a response that is not classified, and the attempt's deadline, which continues.
#[derive(Debug)]
pub struct OpenBody {
    body: Body,
    deadline: Option<Instant>,
    /// `true` if errors of the body get the code that their cause has.
    names_errors: bool,
    timer: Timer,
    /// The deadline has passed.
    timed_out: bool,
    /// Notified last, after the stream itself is gone.
    observed: Option<Box<ObservedStream>>,
}

impl OpenBody {
    pub fn new(body: Body, deadline: Option<Instant>, names_errors: bool) -> Self {
        Self { body, deadline, names_errors, timer: Timer::default(), timed_out: false, observed: None }
    }

    // A message goes on as it came: it is looked at and copied only here (bench `streams`).
    #[inline]
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) if frame.is_data() && self.observed.is_none() => polled,
            _ => self.look_at(polled, cx),
        }
    }

    /// Anything but a message, or one that observers are notified of.
    #[cold]
    fn look_at(
        &mut self,
        mut polled: Poll<Option<Result<Frame<Bytes>, Status>>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match &mut polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(trailers) = frame.trailers_mut() {
                    received::sanitize(trailers);
                }
            }
            Poll::Ready(Some(Err(status))) if self.names_errors => name(status),
            Poll::Ready(Some(Err(_)) | None) => {}
            Poll::Pending => polled = self.poll_deadline(cx),
        }
        if let (Some(observed), Poll::Ready(frame)) = (&mut self.observed, &mut polled) {
            notify(observed, frame, self.timed_out);
        }
        polled
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        ready!(self.timer.poll_at(self.deadline, cx));
        self.deadline = None;
        self.timed_out = true;
        self.body = Body::empty();
        let status = Status::deadline_exceeded("the response did not end before the call's deadline");
        Poll::Ready(Some(Err(status)))
    }
}

/// Notifies observers of a frame, or of the end. An error gets the report, if it is requested.
#[cold]
fn notify(observed: &mut ObservedStream, polled: &mut Option<Result<Frame<Bytes>, Status>>, timed_out: bool) {
    let (code, status) = match polled {
        Some(Ok(frame)) => match (frame.data_ref(), frame.trailers_ref()) {
            (Some(data), _) => return observed.arrived(data),
            (None, Some(trailers)) => {
                let code = received::code(trailers);
                (code.unwrap_or(Code::Unknown), code.map(|_| received::status(None, trailers)))
            }
            (None, None) => return,
        },
        Some(Err(status)) => (status.code().to_gax(), Some(status.clone())),
        None => (Code::Unknown, None),
    };
    if let (Some(report), Some(status)) = (observed.ended(code, timed_out), status) {
        *polled = Some(Err(with_report(status, report)));
    }
}

/// Gives a status the code that its cause has, where tonic says UNKNOWN or CANCELLED of a broken connection.
#[cold]
fn name(status: &mut Status) {
    let code = received::tonic_code(cause::classify(status, cause::Progress::Begun).code);
    if status.code() == code {
        return;
    }
    let renamed = Status::with_details_and_metadata(
        code,
        status.message().to_owned(),
        Bytes::copy_from_slice(status.details()),
        status.metadata().clone(),
    );
    let before = std::mem::replace(status, renamed);
    status.set_source(std::sync::Arc::new(before));
}
