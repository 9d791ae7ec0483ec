//! A request's body, read before the first attempt.

use super::collect::Collected;
use super::course::Judge;
use crate::operation::Note;
use crate::settings::Limits;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;

/// A body, and what has been read of it.
#[derive(Debug)]
pub(crate) struct Intake {
    body: Body,
    read: Collected,
}

/// What reading has shown.
pub(crate) enum Read {
    /// The whole of it: one frame.
    Whole,
    /// There is more, or there may be: it is sent on as it comes.
    Stream(Note),
}

impl Intake {
    #[inline]
    pub(crate) fn of(body: Body) -> Self {
        Self { body, read: Collected::default() }
    }

    /// A unary request is waited for. Where nobody knows the method's kind, a body that is not there at once
    /// is a stream.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        judge: Judge,
        limits: Limits,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Read, Status>> {
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(frame)) => frame?,
                Poll::Ready(None) => return Poll::Ready(Ok(Read::Whole)),
                Poll::Pending if judge == Judge::FirstMessage => {
                    return Poll::Ready(Ok(Read::Stream(Note::RequestIsAStream)));
                }
                Poll::Pending => return Poll::Pending,
            };
            if let Ok(data) = frame.into_data() {
                let is_first = self.read.is_empty();
                self.read.push(data);
                if !is_first && judge == Judge::FirstMessage {
                    return Poll::Ready(Ok(Read::Stream(Note::RequestIsAStream)));
                }
                if !is_first && self.read.len() > limits.max_replay_bytes {
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

impl HttpBody for Intake {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.read.pop() {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None => Pin::new(&mut self.body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && self.body.is_end_stream()
    }
}
