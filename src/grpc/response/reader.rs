//! A response that comes in.

use super::open_body::{OpenBody, Remainder};
use crate::body::FrameBuffer;
use crate::grpc::status::{Failure, received};
use crate::operation::{Current, Note};
use bytes::Bytes;
use gax_retry::{Code, CommitPoint, MethodKind};
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body as HttpBody;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::StdError;

/// How much of a response must have come in before it can be called good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadExtent {
    /// All of it: the RPC is unary.
    Whole,
    /// One message, and its end if that is there already: the RPC responds with a stream, or nobody knows whether
    /// it does.
    FirstMessage,
    /// Its headers: they commit a stream of responses, or the request is a stream that goes on meanwhile.
    Head,
}

impl ReadExtent {
    #[inline]
    pub(crate) fn of(kind: Option<MethodKind>, commit_point: CommitPoint) -> Self {
        match kind {
            Some(kind) if kind.is_unary() => ReadExtent::Whole,
            Some(_) if commit_point == CommitPoint::Headers => ReadExtent::Head,
            _ => ReadExtent::FirstMessage,
        }
    }
}

/// A response whose head is there, and is no error.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    pub(crate) parts: Parts,
    body: Body,
    pub(crate) frames: FrameBuffer,
}

/// What is left of a response that was handed to the caller.
impl Default for ResponseReader {
    fn default() -> Self {
        let (parts, body) = http::Response::new(Body::default()).into_parts();
        Self { parts, body, frames: FrameBuffer::default() }
    }
}

/// What reading a response leads to.
pub(crate) enum Step {
    /// It is good to pass on.
    Good(Remainder),
    /// It has a status that is none of success, or none at all.
    Failed(Box<Failure>),
    /// It broke off.
    Broke(StdError),
    /// No other attempt would read it better.
    Unreadable(Box<Failure>),
}

impl ResponseReader {
    /// Looks at the head, which may be all there is.
    #[inline]
    pub(crate) fn of<B>(response: http::Response<B>, current: &mut Current<'_>) -> Result<Self, Box<Failure>>
    where
        B: HttpBody<Data = Bytes, Error: Into<StdError>> + Send + 'static,
    {
        let (mut parts, body) = response.into_parts();
        match received::code(&parts.headers) {
            None if parts.status == StatusCode::OK => {}
            None => return Err(Box::new(Failure::without_status(parts.status, parts.headers))),
            Some(Code::Ok) => sanitize(&mut parts.headers, current),
            Some(code) => {
                sanitize(&mut parts.headers, current);
                return Err(Box::new(Failure::by_server(code, None, parts.headers)));
            }
        }
        Ok(Self { parts, body: Body::new(body), frames: FrameBuffer::default() })
    }

    /// Reads on until it is known what follows from the response.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        extent: ReadExtent,
        max_buffer: usize,
        current: &mut Current<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Step> {
        if extent == ReadExtent::Head {
            return Poll::Ready(self.pass_on(Note::Committed, current));
        }
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(status))) => return Poll::Ready(Step::Broke(status.into())),
                Poll::Ready(None) => return Poll::Ready(self.ended()),
                Poll::Pending if extent == ReadExtent::FirstMessage && self.frames.has_message() => {
                    return Poll::Ready(self.pass_on(Note::Committed, current));
                }
                Poll::Pending => return Poll::Pending,
            };
            match frame.into_data() {
                // The end of a body without trailers may come as a frame of nothing.
                Ok(data) if data.is_empty() => {}
                Ok(data) => {
                    let another = extent == ReadExtent::FirstMessage && self.frames.has_message();
                    self.frames.push(data);
                    if another {
                        return Poll::Ready(self.pass_on(Note::Committed, current));
                    }
                    if extent == ReadExtent::Whole && self.frames.has_more_than_a_message() {
                        return Poll::Ready(Step::Unreadable(Box::new(Failure::two_messages())));
                    }
                    if self.frames.len() > max_buffer {
                        return Poll::Ready(self.pass_on(Note::ResponseTooLargeToBuffer, current));
                    }
                }
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        return Poll::Ready(self.closed(trailers, current));
                    }
                }
            }
        }
    }

    /// The body ended without trailers: fine only if the head had the status.
    fn ended(&mut self) -> Step {
        if received::code(&self.parts.headers).is_some() {
            return Step::Good(Remainder::End);
        }
        let headers = std::mem::take(&mut self.parts.headers);
        Step::Failed(Box::new(Failure::without_status(self.parts.status, headers)))
    }

    #[inline]
    fn closed(&mut self, mut trailers: HeaderMap, current: &mut Current<'_>) -> Step {
        let code = received::code(&trailers);
        if code.is_some() {
            sanitize(&mut trailers, current);
        }
        if code == Some(Code::Ok) {
            return Step::Good(Remainder::Trailers(trailers));
        }
        let mut headers = std::mem::take(&mut self.parts.headers);
        Step::Failed(Box::new(if let Some(code) = code {
            Failure::by_server(code, Some(headers), trailers)
        } else {
            headers.extend(trailers);
            Failure::without_status(StatusCode::OK, headers)
        }))
    }

    /// The response goes out with its end still to come.
    fn pass_on(&mut self, note: Note, current: &mut Current<'_>) -> Step {
        current.note(note);
        current.committed();
        let body = std::mem::take(&mut self.body);
        Step::Good(Remainder::Open(Box::new(OpenBody::new(body, current.deadline(), true))))
    }
}

#[inline]
fn sanitize(headers: &mut HeaderMap, current: &mut Current<'_>) {
    if received::sanitize(headers) {
        current.note(Note::MalformedStatusDetails);
    }
}
