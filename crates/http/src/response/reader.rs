//! A response that arrives.
#![allow(missing_debug_implementations, reason = "for the crates of this repository alone")]

use crate::request::CutOff;
use crate::response::open_body::{EndedEarly, HttpResponseBody, OpenBody};
use gax_wire::__private::{BoxError, FrameBuffer, Remainder};
use http::response::Parts;
use http::{HeaderMap, Method, StatusCode};
use http_body::Body;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// The most that is read of the body of a response that is retried, so that its connection can be used again.
const DRAIN_BYTES: usize = 16 * 1024;
/// The longest that this may take.
pub(crate) const DRAIN_TIME: Duration = Duration::from_millis(100);

/// How far a body is read before the attempt is classified.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadExtent {
    most: usize,
    until: Option<Instant>,
}

impl ReadExtent {
    /// To its end, if that comes before so many bytes.
    pub(crate) fn to_end(most: usize) -> Self {
        Self { most, until: None }
    }

    /// As far as is cheap: the response is about to be let go.
    pub(crate) fn drain(until: Option<Instant>) -> Self {
        Self { most: DRAIN_BYTES, until }
    }
}

/// The head, what is there of the body, and the rest of it.
pub struct ResponseReader<B> {
    parts: Parts,
    frames: FrameBuffer,
    trailers: Option<HeaderMap>,
    body: OpenBody<B>,
    /// The most bytes that are read.
    most: usize,
}

/// How reading ended.
pub(crate) enum Read {
    /// It was not begun.
    NotYet,
    /// The body ended.
    Whole,
    /// It is longer than what is buffered.
    TooLong,
    /// It ended early, or took too long.
    Early(EndedEarly),
}

impl<B> ResponseReader<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    /// The response to a request of that method.
    pub(crate) fn new(
        method: &Method,
        response: http::Response<B>,
        idle_timeout: Option<Duration>,
        request: Option<CutOff>,
    ) -> Self {
        let (parts, body) = response.into_parts();
        let body = OpenBody::new((method, &parts), body, idle_timeout, request);
        Self { parts, frames: FrameBuffer::default(), trailers: None, body, most: 0 }
    }

    /// The response, to be read as far as that.
    pub(crate) fn reading(mut self, extent: ReadExtent) -> Self {
        self.most = extent.most;
        self.body.set_deadline(extent.until);
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.parts.status
    }

    /// Reads on.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Read> {
        while let Some(frame) = ready!(self.body.poll_in_time(cx)) {
            let frame = match frame {
                Ok(frame) => frame,
                Err(why) => return Poll::Ready(Read::Early(why)),
            };
            match frame.into_data() {
                Ok(data) => {
                    if !data.is_empty() {
                        self.frames.push(data);
                    }
                    if self.frames.len() > self.most {
                        return Poll::Ready(Read::TooLong);
                    }
                }
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        self.trailers = Some(trailers);
                    }
                }
            }
        }
        Poll::Ready(Read::Whole)
    }

    /// The moment at which it is given up if nothing comes.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.body.due()
    }

    /// The response, read so far. What is still to come of it has to come before the deadline.
    pub(crate) fn into_response(
        mut self,
        read: Read,
        deadline: Option<Instant>,
    ) -> http::Response<HttpResponseBody<B>> {
        // A server that has a good reply before it has read the request may still want the rest.
        if self.parts.status.is_success() {
            self.body.release_request();
        }
        let remainder = match read {
            Read::Whole => self.trailers.map_or(Remainder::End, Remainder::Trailers),
            Read::NotYet | Read::TooLong | Read::Early(EndedEarly::TimedOut | EndedEarly::Idle(_)) => {
                self.body.set_deadline(deadline);
                Remainder::Open(self.body)
            }
            Read::Early(why) => Remainder::Failed(Box::new(why.into_error())),
        };
        http::Response::from_parts(self.parts, HttpResponseBody::new(self.frames, remainder))
    }
}
