//! A response that comes in.

use super::BoxError;
use super::body::{HttpResponseBody, Tail, in_bytes};
use crate::grpc::Collected;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;

/// The head, what is there of the body, and the rest of it.
pub(super) struct Incoming<B> {
    parts: Parts,
    held: Collected,
    trailers: Option<HeaderMap>,
    body: Pin<Box<B>>,
}

/// Why reading ended.
pub(super) enum Read {
    /// The body ended.
    Whole,
    /// It is longer than what is held back.
    TooLong,
    /// It broke off.
    Broke(BoxError),
}

impl<B> Incoming<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    pub(super) fn new(response: http::Response<B>) -> Self {
        let (parts, body) = response.into_parts();
        Self { parts, held: Collected::default(), trailers: None, body: Box::pin(body) }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.parts.status
    }

    pub(super) fn poll(&mut self, most: usize, cx: &mut Context<'_>) -> Poll<Read> {
        while let Some(frame) = ready!(self.body.as_mut().poll_frame(cx)) {
            let frame = match frame {
                Ok(frame) => in_bytes(frame),
                Err(error) => return Poll::Ready(Read::Broke(error.into())),
            };
            match frame.into_data() {
                Ok(data) => {
                    if !data.is_empty() {
                        self.held.push(data);
                    }
                    if self.held.len() > most {
                        return Poll::Ready(Read::TooLong);
                    }
                }
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        self.trailers = Some(trailers);
                    }
                }
            }
        }
        Poll::Ready(Read::Whole)
    }

    /// The response, ended as it was read.
    pub(super) fn into_response(
        self,
        read: Read,
        deadline: Option<Instant>,
    ) -> http::Response<HttpResponseBody<B>> {
        let tail = match read {
            Read::Whole => self.trailers.map_or(Tail::End, Tail::Trailers),
            Read::TooLong => Tail::open(self.body, deadline),
            Read::Broke(error) => Tail::Broken(error),
        };
        http::Response::from_parts(self.parts, HttpResponseBody::new(self.held, tail))
    }

    /// The response, whose body did not end in time.
    pub(super) fn timed_out(self) -> http::Response<HttpResponseBody<B>> {
        http::Response::from_parts(self.parts, HttpResponseBody::new(self.held, Tail::timed_out()))
    }
}
