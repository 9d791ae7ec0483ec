//! The body of a response that has come through the layer.

use super::BoxError;
use crate::grpc::Collected;
use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep, sleep_until};

/// The body of a response: what the layer has read of it, and what is still to come.
///
/// The body of a success is read to its end first, unless it is longer than the response buffer; that of
/// an error is handed on as it comes. What is still to come has to come within the attempt's time.
pub struct HttpResponseBody<B> {
    held: Collected,
    tail: Tail<B>,
}

/// What comes after the part that was held back.
pub(super) enum Tail<B> {
    /// Nothing.
    End,
    Trailers(HeaderMap),
    /// More, until the attempt's time is up.
    Open {
        body: Pin<Box<B>>,
        deadline: Option<Instant>,
        timer: Option<Pin<Box<Sleep>>>,
    },
    /// The body broke off there.
    Broken(BoxError),
}

impl<B> Tail<B> {
    pub(super) fn open(body: Pin<Box<B>>, deadline: Option<Instant>) -> Self {
        Tail::Open { body, deadline, timer: None }
    }
}

impl<B> HttpResponseBody<B> {
    pub(super) fn new(held: Collected, tail: Tail<B>) -> Self {
        Self { held, tail }
    }

    /// Lets go of the connection; what has not come in by now never will.
    pub(super) fn cut(&mut self) {
        if matches!(self.tail, Tail::Open { .. }) {
            self.tail = Tail::Broken(Box::new(EndedEarly::Cut));
        }
    }
}

/// A frame with its data in one piece.
pub(super) fn in_bytes<D: Buf>(frame: Frame<D>) -> Frame<Bytes> {
    frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))
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
                Tail::Broken(error) => Poll::Ready(Some(Err(error))),
                Tail::End | Tail::Open { .. } => Poll::Ready(None),
            },
            Tail::Open { body, deadline, timer } => match body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(in_bytes(frame)))),
                Poll::Ready(Some(Err(error))) => {
                    this.tail = Tail::End;
                    Poll::Ready(Some(Err(error.into())))
                }
                Poll::Ready(None) => {
                    this.tail = Tail::End;
                    Poll::Ready(None)
                }
                Poll::Pending => {
                    let Some(deadline) = *deadline else { return Poll::Pending };
                    let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
                    if timer.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    this.tail = Tail::End;
                    Poll::Ready(Some(Err(Box::new(EndedEarly::TimedOut))))
                }
            },
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

/// Why a body ends early.
#[derive(Debug)]
enum EndedEarly {
    TimedOut,
    Cut,
}

impl fmt::Display for EndedEarly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndedEarly::TimedOut => "the response did not end before its attempt's time was up",
            EndedEarly::Cut => {
                "the rest of the response was let go before another attempt that could not be made"
            }
        })
    }
}

impl std::error::Error for EndedEarly {}
