//! The body of a gRPC response that was made of an HTTP response.

use crate::response::stream::StreamBody;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;

/// The body of a response of a [`RestTransport`](crate::RestTransport): messages with their prefixes, and the status behind
/// them in trailers.
#[derive(Default)]
pub struct RestBody {
    content: Content,
}

#[derive(Default)]
enum Content {
    #[default]
    End,
    /// One message, and success behind it.
    Message(Bytes),
    Success,
    Stream(Box<StreamBody>),
}

impl RestBody {
    /// The body of a success with one message, whose frame that is.
    pub(crate) fn message(frame: Bytes) -> Self {
        Self { content: Content::Message(frame) }
    }

    /// The body of a stream.
    pub(crate) fn stream(stream: StreamBody) -> Self {
        Self { content: Content::Stream(Box::new(stream)) }
    }
}

gax_text::short_debug! { self: RestBody {} }

impl Body for RestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Content::Stream(stream) = &mut self.content {
            return stream.poll_frame(cx);
        }
        let frame = match std::mem::take(&mut self.content) {
            Content::Message(frame) => {
                self.content = Content::Success;
                Some(Ok(Frame::data(frame)))
            }
            Content::Success => Some(Ok(Frame::trailers(success()))),
            Content::End | Content::Stream(_) => None,
        };
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::End => true,
            Content::Message(_) | Content::Success => false,
            Content::Stream(stream) => stream.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Message(frame) => SizeHint::with_exact(frame.len() as u64),
            Content::End | Content::Success => SizeHint::with_exact(0),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

/// The trailers of a success.
pub(super) fn success() -> HeaderMap {
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
    trailers
}
