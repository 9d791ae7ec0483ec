//! One connection of a stream: the response of one attempt.

use super::codec::{Measured, StreamCodec};
use super::tapped_body::{BodyEnd, Tap, TappedBody};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_stream::Stream as _;
use tonic::body::Body;
use tonic::codec::Streaming;
use tonic::{Code, Status};
use tonic_gax::__private::ResponseBody;

/// The messages of an attempt's response.
pub struct Connection<M> {
    messages: Streaming<Measured<M>>,
    tap: Tap,
    is_observed: bool,
    /// The response's head, which has the status if there are no trailers.
    pub head: HeaderMap,
    pub status: StatusCode,
}

/// How a connection's messages end.
pub enum ConnectionEnd {
    /// As the body ended, behind whole messages or not.
    Body { end: BodyEnd, is_whole: bool },
    /// With a message that can't be read.
    Unreadable(Status),
}

impl<M: Send + 'static> Connection<M> {
    /// # Errors
    ///
    /// The response can't be read.
    pub fn open(
        response: http::Response<ResponseBody>,
        codec: &impl StreamCodec<Response = M>,
        is_observed: bool,
        max_message: usize,
    ) -> Result<Self, Status> {
        let tap = Tap::new(is_observed);
        let (head, status) = (response.headers().clone(), response.status());
        let tapped = |body| Body::new(TappedBody::new(body, tap.clone(), is_observed, max_message));
        let response = response.map(tapped);
        let messages = codec.open(response)?.into_inner();
        Ok(Self { messages, tap, is_observed, head, status })
    }

    /// The next message, or how they end.
    #[expect(clippy::result_large_err, reason = "moved once a connection, when its messages end")]
    #[inline]
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Measured<M>, ConnectionEnd>> {
        Pin::new(&mut self.messages).poll_next(cx).map(|message| match message {
            Some(Ok(message)) => Ok(message),
            Some(Err(status)) => Err(self.end(Some(status))),
            None => Err(self.end(None)),
        })
    }

    #[cold]
    fn end(&mut self, status: Option<Status>) -> ConnectionEnd {
        let end = self.tap.take_end();
        match (end, status) {
            (Some(end), status) => {
                let is_cut_off = status.is_some_and(|status| status.code() == Code::Internal);
                ConnectionEnd::Body { end, is_whole: !is_cut_off }
            }
            (None, Some(status)) => ConnectionEnd::Unreadable(status),
            (None, None) => ConnectionEnd::Body { end: BodyEnd::WithoutTrailers, is_whole: true },
        }
    }

    /// The data that has arrived, where observers want to know.
    #[inline]
    pub fn arrived(&self) -> Vec<Bytes> {
        if self.is_observed { self.tap.take_arrived() } else { Vec::new() }
    }
}
