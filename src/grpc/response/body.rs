//! The body of a response that has come through the layer.

use crate::grpc::response::observed_stream::ObservedStream;
use crate::grpc::response::open_body::{Incoming, OpenBody, Remainder, ResumedPart};
use bytes::Bytes;
use gax_wire::__private::{BufferedBody, FrameBuffer, OpenPart};
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;

/// The body of a response that has come through [`RetryService`](crate::RetryService): buffered and classified, or handed
/// to the caller while it is being received, under the attempt's deadline. The default is empty; tonic's interceptors use
/// it if they reject a call.
#[derive(Debug)]
pub struct ResponseBody(pub BufferedBody<Incoming, Status>);

impl Default for ResponseBody {
    #[inline]
    fn default() -> Self {
        Self::new(FrameBuffer::default(), Remainder::End)
    }
}

impl ResponseBody {
    /// A body of what was buffered and what follows it.
    #[inline]
    pub fn new(frames: FrameBuffer, remainder: Remainder) -> Self {
        Self(BufferedBody { frames, remainder })
    }

    /// A body of which nothing has been read.
    #[inline]
    pub fn unread(body: Body) -> Self {
        Self::new(FrameBuffer::default(), Remainder::Open(Incoming::Unread(body)))
    }

    /// Returns whether it was handed on before its end.
    #[inline]
    pub fn is_open(&self) -> bool {
        matches!(self.0.remainder, Remainder::Open(Incoming::HandedOn(_)))
    }

    /// A stream that resumes.
    pub fn resumed(stream: impl OpenPart<Error = Status> + Send + 'static) -> Self {
        let part = ResumedPart(Box::new(stream));
        Self::new(FrameBuffer::default(), Remainder::Open(Incoming::Resumed(part)))
    }

    /// Closes the operation, or leaves that to what is still to come.
    pub fn observe(&mut self, stream: ObservedStream) {
        match &mut self.0.remainder {
            Remainder::Open(incoming) => incoming.observe(stream),
            Remainder::End | Remainder::Trailers(_) | Remainder::Failed(_) => stream.whole(&self.0.frames),
        }
    }

    /// A body of which nothing was buffered.
    pub fn open(open_body: OpenBody) -> Self {
        Self::new(FrameBuffer::default(), Remainder::Open(Incoming::HandedOn(Box::new(open_body))))
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Status;

    #[inline]
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.0.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
