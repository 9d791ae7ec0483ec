//! The body of a response that has come through the layer.

use crate::body::FrameBuffer;
use crate::http::response::open_body::{EndedEarly, OpenBody};
use crate::operation::Timer;
use crate::transport::BoxError;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;

/// The body of a response: what the layer has read of it, and what is still to come.
///
/// The body of a success is read to its end first, unless it is longer than the response buffer. What is still
/// to come of it has no deadline: the operation has ended. The body of an error is handed to the caller as it comes, and
/// has to end within the attempt's time. Either may take no longer over the next bytes than the
/// [idle timeout](crate::HttpRetryLayer::body_idle_timeout), if there is one.
pub struct HttpResponseBody<B> {
    frames: FrameBuffer,
    remainder: Remainder<B>,
}

/// The part that comes after what was buffered.
pub(crate) enum Remainder<B> {
    /// Nothing.
    End,
    Trailers(HeaderMap),
    /// More, until the deadline.
    Open {
        body: OpenBody<B>,
        deadline: Option<Instant>,
        timer: Timer,
    },
    /// The body ends there, before its time.
    Broken(EndedEarly),
}

impl<B> Remainder<B> {
    pub(crate) fn open(body: OpenBody<B>, deadline: Option<Instant>) -> Self {
        Remainder::Open { body, deadline, timer: Timer::default() }
    }
}

impl<B> HttpResponseBody<B> {
    pub(crate) fn new(frames: FrameBuffer, remainder: Remainder<B>) -> Self {
        Self { frames, remainder }
    }

    /// Looks at what has come in, without taking it.
    pub(crate) fn with_bytes<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        match (self.frames.first(), self.frames.len()) {
            (Some(only), len) if only.len() == len => look(only),
            _ => look(&self.frames.pieces().collect::<Vec<_>>().concat()),
        }
    }

    /// Lets go of the connection; what has not come in by now never will.
    pub(crate) fn cut(&mut self) {
        if matches!(self.remainder, Remainder::Open { .. }) {
            self.remainder = Remainder::Broken(EndedEarly::Cut);
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
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if let Some(data) = this.frames.pop() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        match &mut this.remainder {
            Remainder::End => Poll::Ready(None),
            Remainder::Trailers(_) | Remainder::Broken(_) => {
                match std::mem::replace(&mut this.remainder, Remainder::End) {
                    Remainder::Trailers(trailers) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
                    Remainder::Broken(why) => Poll::Ready(Some(Err(why.into_error()))),
                    Remainder::End | Remainder::Open { .. } => Poll::Ready(None),
                }
            }
            Remainder::Open { body, deadline, timer } => {
                let frame = loop {
                    match body.poll_frame(*deadline, cx) {
                        Poll::Ready(frame) => break frame,
                        Poll::Pending => ready!(timer.poll_at(body.due(*deadline), cx)),
                    }
                };
                if !matches!(frame, Some(Ok(_))) {
                    this.remainder = Remainder::End;
                }
                Poll::Ready(frame.map(|frame| frame.map_err(EndedEarly::into_error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let nothing_follows = match &self.remainder {
            Remainder::End => true,
            Remainder::Trailers(_) | Remainder::Broken(_) => false,
            Remainder::Open { body, .. } => body.is_end_stream(),
        };
        nothing_follows && self.frames.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let frames = u64::try_from(self.frames.len()).unwrap_or(u64::MAX);
        match &self.remainder {
            Remainder::End | Remainder::Trailers(_) => SizeHint::with_exact(frames),
            Remainder::Broken(_) => SizeHint::default(),
            Remainder::Open { body, .. } => {
                let rest = body.size_hint();
                let mut hint = SizeHint::default();
                hint.set_lower(frames.saturating_add(rest.lower()));
                if let Some(upper) = rest.upper() {
                    hint.set_upper(frames.saturating_add(upper));
                }
                hint
            }
        }
    }
}

impl<B> fmt::Debug for HttpResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponseBody").field("frames", &self.frames.len()).finish_non_exhaustive()
    }
}
