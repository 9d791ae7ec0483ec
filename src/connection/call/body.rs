//! The body of a response, which its connection carries.

use crate::connection::endpoint::InFlight;
use crate::connection::error::ConnectionError;
use crate::connection::pool::{EndpointResult, Shared};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The body of a response. As long as it is there, its call counts as in flight.
pub(super) struct ConnectionBody {
    body: Incoming,
    call: InFlight,
    /// Who wants to know how it ends, if endpoints are ejected.
    pool: Option<Arc<Shared>>,
}

impl ConnectionBody {
    pub(super) fn new(body: Incoming, call: InFlight, pool: Option<Arc<Shared>>) -> Self {
        Self { body, call, pool }
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
        if let Some(pool) = &self.pool {
            let result = match &frame {
                Some(Ok(frame)) => {
                    frame.trailers_ref().map_or(EndpointResult::Open, EndpointResult::of_trailers)
                }
                Some(Err(_)) => EndpointResult::Bad,
                None => EndpointResult::Open,
            };
            pool.count(self.call.live(), result);
        }
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
