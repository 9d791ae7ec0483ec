//! A request's body, read before the first attempt.

use crate::body::FrameBuffer;
use crate::operation::Note;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;

/// A body, and what has been read of it.
#[derive(Debug)]
pub(crate) struct RequestBuffer {
    body: Body,
    read: FrameBuffer,
    /// Whether the RPC is known to take one message.
    is_awaited: bool,
    has_ended: bool,
}

/// What reading has shown.
pub(crate) enum Read {
    /// The whole of it: one message.
    Whole,
    /// There is more, or there may be: it is sent on as it comes.
    Stream(Note),
}

impl RequestBuffer {
    /// The body of an RPC that is known to take one message, or of one whose kind nobody knows.
    #[inline]
    pub(crate) fn of(body: Body, is_awaited: bool) -> Self {
        Self { body, read: FrameBuffer::default(), is_awaited, has_ended: false }
    }

    /// The one message that an RPC takes is waited for. Where nobody knows the kind, a body is a stream unless it is
    /// exactly one message, and all there at once.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        max_replay_bytes: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Read, Status>> {
        const STREAM: Poll<Result<Read, Status>> = Poll::Ready(Ok(Read::Stream(Note::RequestIsAStream)));
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(frame)) => frame?,
                Poll::Ready(None) if self.is_awaited || self.read.is_one_message() => {
                    return Poll::Ready(Ok(Read::Whole));
                }
                Poll::Ready(None) => {
                    self.has_ended = true;
                    return STREAM;
                }
                Poll::Pending if self.is_awaited => return Poll::Pending,
                Poll::Pending => return STREAM,
            };
            if let Ok(data) = frame.into_data() {
                let is_first = self.read.is_empty();
                self.read.push(data);
                if !self.is_awaited && self.read.has_more_than_a_message() {
                    return STREAM;
                }
                if !is_first && self.read.len() > max_replay_bytes {
                    return Poll::Ready(Ok(Read::Stream(Note::RequestTooLargeToReplay)));
                }
            }
        }
    }

    /// All that was read, as one message.
    #[inline]
    pub(crate) fn into_message(self) -> Bytes {
        self.read.into_bytes()
    }

    /// The body as if nothing had been read of it.
    pub(crate) fn into_body(self) -> Body {
        Body::new(self)
    }
}

impl HttpBody for RequestBuffer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.read.pop() {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None if self.has_ended => Poll::Ready(None),
            None => Pin::new(&mut self.body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && (self.has_ended || self.body.is_end_stream())
    }
}
