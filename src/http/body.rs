//! The body of a response that has come through the layer.

use super::BoxError;
use super::open_body::{EndedEarly, OpenBody};
use crate::grpc::Collected;
use crate::operation::Timer;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;

/// The body of a response: what the layer has read of it, and what is still to come.
///
/// The body of a success is read to its end first, unless it is longer than the response buffer. What is still
/// to come of it has no deadline: the operation has ended. The body of an error is handed on as it comes, and
/// has to end within the attempt's time. Either may take no longer over the next bytes than the
/// [idle timeout](crate::HttpRetryLayer::body_idle_timeout), if there is one.
pub struct HttpResponseBody<B> {
    held: Collected,
    tail: Tail<B>,
}

/// What comes after the part that was held back.
pub(super) enum Tail<B> {
    /// Nothing.
    End,
    Trailers(HeaderMap),
    /// More, until the deadline.
    Open {
        body: OpenBody<B>,
        deadline: Option<Instant>,
        timer: Timer,
    },
    /// The body ends there, before its time.
    Broken(EndedEarly),
}

impl<B> Tail<B> {
    pub(super) fn open(body: OpenBody<B>, deadline: Option<Instant>) -> Self {
        Tail::Open { body, deadline, timer: Timer::default() }
    }
}

impl<B> HttpResponseBody<B> {
    pub(super) fn new(held: Collected, tail: Tail<B>) -> Self {
        Self { held, tail }
    }

    /// Lets go of the connection; what has not come in by now never will.
    pub(super) fn cut(&mut self) {
        if matches!(self.tail, Tail::Open { .. }) {
            self.tail = Tail::Broken(EndedEarly::Cut);
        }
    }
}

impl<B> Body for HttpResponseBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if let Some(data) = this.held.pop() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        match &mut this.tail {
            Tail::End => Poll::Ready(None),
            Tail::Trailers(_) | Tail::Broken(_) => match std::mem::replace(&mut this.tail, Tail::End) {
                Tail::Trailers(trailers) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
                Tail::Broken(why) => Poll::Ready(Some(Err(why.into_error()))),
                Tail::End | Tail::Open { .. } => Poll::Ready(None),
            },
            Tail::Open { body, deadline, timer } => {
                let frame = ready!(body.poll_frame(*deadline, timer, cx));
                if !matches!(frame, Some(Ok(_))) {
                    this.tail = Tail::End;
                }
                Poll::Ready(frame.map(|frame| frame.map_err(EndedEarly::into_error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let held_is_all = match &self.tail {
            Tail::End => true,
            Tail::Trailers(_) | Tail::Broken(_) => false,
            Tail::Open { body, .. } => body.is_end_stream(),
        };
        held_is_all && self.held.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let held = u64::try_from(self.held.len()).unwrap_or(u64::MAX);
        match &self.tail {
            Tail::End | Tail::Trailers(_) => SizeHint::with_exact(held),
            Tail::Broken(_) => SizeHint::default(),
            Tail::Open { body, .. } => {
                let rest = body.size_hint();
                let mut hint = SizeHint::default();
                hint.set_lower(held.saturating_add(rest.lower()));
                if let Some(upper) = rest.upper() {
                    hint.set_upper(held.saturating_add(upper));
                }
                hint
            }
        }
    }
}

impl<B> fmt::Debug for HttpResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponseBody").field("held", &self.held.len()).finish_non_exhaustive()
    }
}
