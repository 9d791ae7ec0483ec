//! The body of a response that has come through the layer.

use crate::body::FrameBuffer;
use crate::grpc::response::open_body::{OpenBody, Remainder};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;

/// The body of a response that has come through [`RetryService`](crate::RetryService): buffered and
/// classified, or handed to the caller while it still comes in, under the attempt's deadline. The default is empty: tonic's
/// interceptors put it in place of a response.
#[derive(Debug, Default)]
pub struct ResponseBody {
    pub(crate) frames: FrameBuffer,
    pub(crate) remainder: Remainder,
}

impl ResponseBody {
    /// A body of what was buffered and what follows it.
    #[inline]
    pub(crate) fn new(frames: FrameBuffer, remainder: Remainder) -> Self {
        Self { frames, remainder }
    }

    /// A body of which nothing has been read.
    #[inline]
    pub(super) fn unread(body: Body) -> Self {
        Self::new(FrameBuffer::default(), Remainder::Unread(body))
    }

    /// Whether its end is still to come.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.remainder, Remainder::Open(_))
    }

    /// A body of which nothing was buffered.
    pub(crate) fn open(open_body: OpenBody) -> Self {
        Self::new(FrameBuffer::default(), Remainder::Open(Box::new(open_body)))
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.get_mut();
        if let Some(data) = this.frames.pop() {
            if let Remainder::Open(open_body) = &mut this.remainder {
                open_body.pass_on(&data);
            }
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        // They are moved once: see bench `speed`, instructions.
        if let Remainder::Trailers(_) = &this.remainder
            && let Remainder::Trailers(trailers) = std::mem::take(&mut this.remainder)
        {
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        match &mut this.remainder {
            Remainder::Open(open_body) => open_body.poll_frame(cx),
            Remainder::Unread(body) => Pin::new(body).poll_frame(cx),
            Remainder::Failed(_) => Poll::Ready(this.remainder.take_error().map(Err)),
            Remainder::Trailers(_) | Remainder::End => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty()
            && match &self.remainder {
                Remainder::End => true,
                Remainder::Trailers(_) | Remainder::Failed(_) => false,
                Remainder::Open(open_body) => open_body.is_end_stream(),
                Remainder::Unread(body) => body.is_end_stream(),
            }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.remainder {
            Remainder::Open(_) | Remainder::Unread(_) => SizeHint::default(),
            Remainder::End | Remainder::Trailers(_) | Remainder::Failed(_) => {
                SizeHint::with_exact(u64::try_from(self.frames.len()).unwrap_or(u64::MAX))
            }
        }
    }
}
