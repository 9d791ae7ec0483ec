//! The body of a response, which its connection carries.

use crate::endpoint::InFlight;
use crate::error::ConnectionError;
use crate::pool::{EndpointResult, SharedPool};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The body of a response. Until it has ended, its call is treated as in flight.
pub(super) struct ConnectionBody {
    body: Incoming,
    /// `None`: it has ended.
    call: Option<InFlight>,
    /// Who wants to know how it ends, if endpoints are ejected.
    pool: Option<Arc<SharedPool>>,
}

impl ConnectionBody {
    pub(super) fn new(body: Incoming, call: InFlight, pool: Option<Arc<SharedPool>>) -> Self {
        Self { body, call: Some(call), pool }
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
        let is_last = !matches!(&frame, Some(Ok(frame)) if frame.is_data());
        let Some(call) = &self.call else { return Poll::Ready(frame.and_then(Result::ok).map(Ok)) };
        let connection = call.connection();
        if let Some(pool) = &self.pool {
            let result = match &frame {
                Some(Ok(frame)) => {
                    frame.trailers_ref().map_or(EndpointResult::Open, EndpointResult::of_trailers)
                }
                Some(Err(_)) => EndpointResult::Bad,
                None => EndpointResult::Open,
            };
            pool.count(connection, result);
        }
        let frame = frame.map(|frame| {
            frame.map_err(|error| {
                connection.learn_from(&error);
                ConnectionError::of(connection.peer(), error)
            })
        });
        if is_last {
            self.call = None;
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
