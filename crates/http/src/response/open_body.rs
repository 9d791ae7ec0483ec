//! The body of a response, and the part of it that is still to come.
#![allow(missing_debug_implementations, missing_docs, reason = "for the crates of this repository alone")]

use crate::request::CutOff;
use bytes::{Buf as _, Bytes};
use gax_driver::__private::{Clock, Timer, earlier};
use gax_wire::__private::{BoxError, BufferedBody, FrameBuffer, OpenPart, Remainder};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::response::Parts;
use http::{HeaderValue, Method, StatusCode};
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// A body that is read, by the layer or by the caller: how long it has to be, and how long the server may
/// take over it.
pub struct OpenBody<B> {
    body: Pin<Box<B>>,
    /// Its length as announced, if it was.
    announced: Option<u64>,
    /// The bytes of it that have come.
    seen: u64,
    idle_timeout: Option<Duration>,
    /// When it is given up if nothing comes; set while a reader waits.
    idle_until: Option<Instant>,
    /// When it has to have ended.
    deadline: Option<Instant>,
    /// For those who have the body without its operation.
    timer: Timer,
    /// Ends the request's body, whose response this is: not before this one has ended, since a connection breaks by that.
    request: Option<CutOff>,
}

impl<B> OpenBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    pub fn new(
        (method, head): (&Method, &Parts),
        body: B,
        idle_timeout: Option<Duration>,
        request: Option<CutOff>,
    ) -> Self {
        Self {
            body: Box::pin(body),
            announced: announced_length(method, head),
            seen: 0,
            idle_timeout,
            idle_until: None,
            deadline: None,
            timer: Timer::default(),
            request,
        }
    }

    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// The request's body is sent to its end.
    pub fn release_request(&mut self) {
        if let Some(request) = self.request.take() {
            request.release();
        }
    }

    /// The next frame, its data in one piece, if it comes before the deadline. Whoever waits for it polls again when the body
    /// is [due](Self::due).
    pub(crate) fn poll_in_time(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, EndedEarly>>> {
        let Poll::Ready(frame) = self.body.as_mut().poll_frame(cx) else {
            return self.late().map_or(Poll::Pending, |late| Poll::Ready(Some(Err(late))));
        };
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                let frame = frame.map_data(|mut data| data.copy_to_bytes(data.remaining()));
                let length = frame.data_ref().map(Bytes::len);
                if length != Some(0) {
                    self.idle_until = None;
                }
                self.seen = self.seen.saturating_add(length.unwrap_or_default() as u64);
                Some(Ok(frame))
            }
            Some(Err(error)) => Some(Err(EndedEarly::Broke(error.into()))),
            None => self.missing().map(Err),
        })
    }

    /// The next frame, waited for as long as the server may take over it.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, EndedEarly>>> {
        loop {
            match self.poll_in_time(cx) {
                Poll::Pending => ready!(self.timer.poll_at(self.due(), cx)),
                frame @ Poll::Ready(_) => return frame,
            }
        }
    }

    /// The error of a body that ends here too early: HTTP/2 connections, for one, end a body silently that the server
    /// has broken off without an error.
    fn missing(&self) -> Option<EndedEarly> {
        let announced = self.announced.filter(|announced| self.seen < *announced)?;
        Some(EndedEarly::Short { seen: self.seen, announced })
    }

    /// The moment at which a body is late of which nothing comes.
    pub(crate) fn due(&self) -> Option<Instant> {
        earlier(self.deadline, self.idle_until)
    }

    /// Which time was up, now that nothing has come.
    fn late(&mut self) -> Option<EndedEarly> {
        if self.deadline.is_none() && self.idle_timeout.is_none() {
            return None;
        }
        let now = Clock::start();
        self.idle_until = self.idle_until.or_else(|| now.at(self.idle_timeout?));
        let due = self.due();
        due.filter(|due| now.has_reached(*due))?;
        Some(match self.idle_timeout {
            Some(timeout) if due != self.deadline => EndedEarly::Idle(timeout),
            _ => EndedEarly::TimedOut,
        })
    }
}

impl<B> OpenPart for OpenBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Error = BoxError;

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.poll_next(cx).map_err(EndedEarly::into_error)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && self.missing().is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The length of a response's body as its headers announce it; `None` where they don't, or speak of something
/// else: `HEAD`, 204 and 304 have no body, and chunks know their own length.
fn announced_length(method: &Method, response: &Parts) -> Option<u64> {
    let mut values = response.headers.get_all(CONTENT_LENGTH).iter();
    let first = one_length(values.next()?)?;
    let is_empty = method == Method::HEAD
        || method == Method::CONNECT
        || response.status.is_informational()
        || [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status);
    if is_empty || response.headers.contains_key(TRANSFER_ENCODING) {
        return None;
    }
    values.all(|value| one_length(value) == Some(first)).then_some(first)
}

/// The length in a header, where it is the same however often it was written.
fn one_length(value: &HeaderValue) -> Option<u64> {
    let mut lengths = value.to_str().ok()?.split(',').map(|length| length.trim().parse().ok());
    let first = lengths.next()??;
    lengths.all(|length| length == Some(first)).then_some(first)
}

/// Why a body ends early.
#[expect(clippy::exhaustive_enums, reason = "our own crates match it whole")]
pub enum EndedEarly {
    /// It broke off.
    Broke(BoxError),
    /// It ended before its announced length.
    Short { seen: u64, announced: u64 },
    /// The attempt's time was up.
    TimedOut,
    /// Nothing came for that long.
    Idle(Duration),
    /// The layer let go of it.
    Cut,
}

impl EndedEarly {
    /// The error that a reader of the body gets.
    pub(crate) fn into_error(self) -> BoxError {
        match self {
            EndedEarly::Broke(error) => error,
            EndedEarly::Short { seen, announced } => {
                format!("the response ended after {seen} of {announced} bytes").into()
            }
            EndedEarly::TimedOut => "the response did not end before its attempt timed out".into(),
            EndedEarly::Idle(timeout) => format!("the response sent nothing more for {timeout:?}").into(),
            EndedEarly::Cut => "the response was dropped for another attempt, which could not be made".into(),
        }
    }
}

/// The body of a response: the part that the layer has read, and the rest.
///
/// The body of a success is read to its end first, unless it is longer than the response buffer. Its rest has no
/// deadline, because the operation has ended. The body of an error is handed to the caller as it arrives, and has to end
/// within the attempt's time. If there is an [idle timeout](crate::HttpRetryLayer::body_idle_timeout), it limits the
/// wait for the next bytes of either.
pub struct HttpResponseBody<B>(BufferedBody<OpenBody<B>, BoxError>);

impl<B> HttpResponseBody<B> {
    pub(crate) fn new(frames: FrameBuffer, remainder: Remainder<OpenBody<B>, BoxError>) -> Self {
        Self(BufferedBody { frames, remainder })
    }

    /// Looks at what has arrived, without taking it.
    pub(crate) fn with_bytes<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        let frames = &self.0.frames;
        match (frames.first(), frames.len()) {
            (Some(only), len) if only.len() == len => look(only),
            _ => look(&frames.pieces().collect::<Vec<_>>().concat()),
        }
    }

    /// Releases the connection; what has not arrived by now never will.
    pub(crate) fn cut(&mut self) {
        if matches!(self.0.remainder, Remainder::Open(_)) {
            self.0.remainder = Remainder::Failed(Box::new(EndedEarly::Cut.into_error()));
        }
    }
}

impl<B> Body for HttpResponseBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

gax_text::short_debug! { self: [B] HttpResponseBody<B> { frames: self.0.frames.len() } }
