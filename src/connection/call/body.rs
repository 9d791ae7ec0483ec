//! The body of a response, which its connection carries.

use crate::connection::endpoint::InFlight;
use crate::connection::error::ConnectionError;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body of a response. As long as it is there, its call counts as in flight.
pub(super) struct ConnectionBody {
    body: Incoming,
    call: InFlight,
}

impl ConnectionBody {
    pub(super) fn new(body: Incoming, call: InFlight) -> Self {
        Self { body, call }
    }
}

impl Body for ConnectionBody {
    type Data = Bytes;
    type Error = ConnectionError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(frame.map(|frame| {
            frame.map_err(|error| {
                self.call.live().learn_from(&error);
                ConnectionError::of(self.call.live().peer(), error)
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
