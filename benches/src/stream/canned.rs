//! Streams without a connection: nothing but the client's own work.

use super::{Shape, part};
use crate::canned::{good_trailers, response};
use crate::message;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// Responds with so many messages, or takes a stream of them.
#[derive(Debug, Clone)]
pub struct CannedStream {
    shape: Shape,
    messages: u32,
    frame: Bytes,
}

impl CannedStream {
    /// A stream of that shape; `messages` is how many the server sends, where only it streams.
    #[must_use]
    pub fn new(shape: Shape, messages: u32) -> Self {
        Self { shape, messages, frame: message::framed(&part(1)) }
    }
}

impl Service<http::Request<Body>> for CannedStream {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Ready<Result<http::Response<Body>, Status>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let shape = self.shape;
        let left = if shape == Shape::Server { self.messages } else { 0 };
        let body =
            Parts { shape, left, frame: self.frame.clone(), request: request.into_body(), is_open: true };
        ready(Ok(response(Body::new(body))))
    }
}

/// Messages, and the trailers of a success.
#[derive(Debug)]
struct Parts {
    shape: Shape,
    left: u32,
    frame: Bytes,
    request: Body,
    is_open: bool,
}

impl Parts {
    /// Returns whether there is one more message. A request is read as the messages are asked for.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Status>> {
        let mut request = Pin::new(&mut self.request);
        match self.shape {
            Shape::Server => {
                let has_more = self.left > 0;
                self.left = self.left.saturating_sub(1);
                Poll::Ready(Ok(has_more))
            }
            Shape::Both => {
                while self.left == 0 {
                    match ready!(request.as_mut().poll_frame(cx)) {
                        Some(frame) => self.left = frame?.data_ref().map_or(0, messages_in),
                        None => return Poll::Ready(Ok(false)),
                    }
                }
                self.left -= 1;
                Poll::Ready(Ok(true))
            }
            Shape::Client => {
                while let Some(frame) = ready!(request.as_mut().poll_frame(cx)) {
                    frame?;
                }
                // One message, when all has been read.
                self.shape = Shape::Server;
                self.left = 0;
                Poll::Ready(Ok(true))
            }
        }
    }
}

/// The messages in a frame, of which tonic's clients send whole ones.
fn messages_in(frame: &Bytes) -> u32 {
    let (mut rest, mut count) = (&**frame, 0);
    while let [_, a, b, c, d, data @ ..] = rest {
        let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
        rest = data.get(length..).unwrap_or_default();
        count += 1;
    }
    count
}

impl HttpBody for Parts {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match ready!(self.poll_more(cx)) {
            Ok(true) => return Poll::Ready(Some(Ok(Frame::data(self.frame.clone())))),
            Ok(false) => {}
            Err(status) => return Poll::Ready(Some(Err(status))),
        }
        if !std::mem::take(&mut self.is_open) {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(Frame::trailers(good_trailers()))))
    }
}
