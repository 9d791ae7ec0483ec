//! The body of a response that has come through the layer.

use crate::response::open_body::{EndedEarly, OpenBody};
use bytes::Bytes;
use gax_wire::__private::{BoxError, BufferedBody, FrameBuffer, Remainder};
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

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
