//! A stream that resumes, as the body of one response.

use super::message_source::MessageSource;
use bytes::{BufMut as _, Bytes, BytesMut};
use gax_driver::__private::PREFIX;
use gax_driver::OperationReport;
use gax_wire::__private::OpenPart;
use http::{HeaderMap, HeaderValue};
use http_body::{Body as _, Frame};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic_gax::__private::ResponseBody;

/// The messages of all connections, one after the other, and the trailers of the last.
pub(crate) struct ResumedBody {
    messages: Box<dyn MessageSource<Bytes>>,
    report: StreamReport,
    has_ended: bool,
    /// The rest of the stream, which is passed on as it arrives.
    passed: Option<ResponseBody>,
    /// The space of frames whose reader has done with them, for those that follow.
    frames: BytesMut,
}

impl ResumedBody {
    /// `report` is for the report, once the stream has ended.
    pub(crate) fn new(messages: Box<dyn MessageSource<Bytes>>, report: StreamReport) -> Self {
        Self { messages, report, has_ended: false, passed: None, frames: BytesMut::new() }
    }
}

impl OpenPart for ResumedBody {
    type Error = Status;

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Some(passed) = &mut self.passed {
            return Pin::new(passed).poll_frame(cx);
        }
        if self.has_ended {
            return Poll::Ready(None);
        }
        let message = ready!(self.messages.poll_message(cx));
        self.has_ended = !matches!(message, Some(Ok(_)));
        if self.has_ended {
            self.report.set(self.messages.report());
            self.passed = self.messages.take_passed().map(http::Response::into_body);
        }
        if let Some(passed) = &mut self.passed {
            return Pin::new(passed).poll_frame(cx);
        }
        Poll::Ready(Some(match message {
            Some(Ok(message)) => frame(&message, &mut self.frames).map(Frame::data),
            Some(Err(status)) => Err(status),
            None => match self.messages.take_trailers() {
                Some(trailers) => Ok(Frame::trailers(good(trailers))),
                None => Err(Status::internal("the stream did not end: its strategy has panicked")),
            },
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.passed.as_ref().map_or(self.has_ended, ResponseBody::is_end_stream)
    }
}

/// The message with its prefix, in that space where it fits.
pub(super) fn frame(message: &[u8], space: &mut BytesMut) -> Result<Bytes, Status> {
    let Ok(length) = u32::try_from(message.len()) else {
        let text = format!("a message is {} bytes long, more than gRPC can send", message.len());
        return Err(Status::resource_exhausted(text));
    };
    space.reserve(PREFIX + message.len());
    space.put_u8(0);
    space.put_u32(length);
    space.put_slice(message);
    Ok(space.split().freeze())
}

/// The trailers of a stream that has ended well, also of one whose status came in the headers.
fn good(mut trailers: HeaderMap) -> HeaderMap {
    trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
    trailers
}

/// The report of a stream that a [`RetryLayer`](tonic_gax::RetryLayer) resumes, in the extensions of its response: it is available when
/// the stream has ended, with or without an error.
///
/// The streams of generated clients have a method `report()`.
///
/// # Examples
///
/// ```
/// use gax_streams::StreamReport;
///
/// # fn handle<T>(response: tonic::Response<T>) {
/// let report = StreamReport::of(&response).cloned();
/// // Once all messages have been read:
/// if let Some(report) = report.and_then(|report| report.get()) {
///     println!("{report}");
/// }
/// # }
/// # handle(tonic::Response::new(()));
/// ```
#[derive(Clone, Default)]
pub struct StreamReport(Arc<OnceLock<OperationReport>>);

impl StreamReport {
    /// That of a response. `None`: no layer resumes its stream.
    #[must_use]
    pub fn of<T>(response: &tonic::Response<T>) -> Option<&Self> {
        response.extensions().get()
    }

    /// The report, with a row for each connection; `None`: the stream has not ended.
    #[must_use]
    pub fn get(&self) -> Option<OperationReport> {
        self.0.get().cloned()
    }

    /// The stream has ended so.
    pub fn set(&self, report: Option<OperationReport>) {
        if let Some(report) = report {
            self.0.get_or_init(|| report);
        }
    }
}

impl fmt::Debug for StreamReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamReport").field(&self.0.get()).finish()
    }
}
