//! The body of a response that has come through the layer.

use super::collect::Collected;
use super::rest::{Rest, Tail};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;

/// The body of a response that has come through [`RetryService`](crate::RetryService): held back and
/// judged, or passed on while it still comes in, under the attempt's deadline. The default is empty: tonic's
/// interceptors answer so in its place.
#[derive(Debug, Default)]
pub struct ResponseBody {
    collected: Collected,
    tail: Tail,
}

impl ResponseBody {
    /// A body of what was held back and what follows it.
    #[inline]
    pub(crate) fn new(collected: Collected, tail: Tail) -> Self {
        Self { collected, tail }
    }

    /// A body of which nothing was held back.
    pub(crate) fn open(rest: Rest) -> Self {
        Self::new(Collected::default(), Tail::Open(Box::new(rest)))
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
        if let Some(data) = this.collected.pop() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if let Tail::Open(rest) = &mut this.tail {
            return rest.poll_frame(cx);
        }
        Poll::Ready(match std::mem::take(&mut this.tail) {
            Tail::Trailers(trailers) => Some(Ok(Frame::trailers(trailers))),
            Tail::End | Tail::Open(_) => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.collected.is_empty()
            && match &self.tail {
                Tail::End => true,
                Tail::Trailers(_) => false,
                Tail::Open(rest) => rest.is_end_stream(),
            }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.tail {
            Tail::Open(_) => SizeHint::default(),
            Tail::End | Tail::Trailers(_) => {
                SizeHint::with_exact(u64::try_from(self.collected.len()).unwrap_or(u64::MAX))
            }
        }
    }
}
