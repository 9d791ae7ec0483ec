//! The body of a request that is observed.

use bytes::Bytes;
use gax_driver::__private::{MessageCounter, Outbound};
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic::body::Body;

/// The body of an attempt's request, which notifies observers as the connection reads it.
#[derive(Debug)]
pub(crate) struct WatchedBody {
    body: Body,
    outbound: Arc<Outbound>,
    counter: MessageCounter,
}

impl WatchedBody {
    pub(crate) fn new(body: Body, outbound: Arc<Outbound>) -> Self {
        Self { body, outbound, counter: MessageCounter::default() }
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Self { body, outbound, counter } = &mut *self;
        outbound.is_read();
        let frame = ready!(Pin::new(body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            outbound.data(counter, data);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
