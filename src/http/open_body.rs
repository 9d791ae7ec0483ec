//! The part of a response's body that is still to come.

use super::BoxError;
use crate::operation::{Clock, Timer};
use bytes::{Buf as _, Bytes};
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// A body that is read, by the layer or by the caller, and how long the server may take over it.
pub(super) struct OpenBody<B> {
    body: Pin<Box<B>>,
    idle_timeout: Option<Duration>,
    /// When it is given up if nothing comes; set while somebody waits.
    idle_until: Option<Instant>,
}

impl<B> OpenBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    pub(super) fn new(body: B, idle_timeout: Option<Duration>) -> Self {
        Self { body: Box::pin(body), idle_timeout, idle_until: None }
    }

    /// The next frame, its data in one piece, if it comes before the deadline.
    pub(super) fn poll_frame(
        &mut self,
        deadline: Option<Instant>,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, EndedEarly>>> {
        let Poll::Ready(frame) = self.body.as_mut().poll_frame(cx) else {
            return self.poll_time(deadline, timer, cx).map(|late| Some(Err(late)));
        };
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                let frame = frame.map_data(|mut data| data.copy_to_bytes(data.remaining()));
                if frame.data_ref().is_none_or(|data| !data.is_empty()) {
                    self.idle_until = None;
                }
                Some(Ok(frame))
            }
            Some(Err(error)) => Some(Err(EndedEarly::Broke(error.into()))),
            None => None,
        })
    }

    /// Ready once it has taken too long.
    fn poll_time(
        &mut self,
        deadline: Option<Instant>,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<EndedEarly> {
        let Some(idle_timeout) = self.idle_timeout else {
            ready!(timer.poll_at(deadline, cx));
            return Poll::Ready(EndedEarly::TimedOut);
        };
        if self.idle_until.is_none() {
            self.idle_until = Clock::start().at(idle_timeout);
        }
        let until = [deadline, self.idle_until].into_iter().flatten().min();
        ready!(timer.poll_at(until, cx));
        Poll::Ready(if until == deadline { EndedEarly::TimedOut } else { EndedEarly::Idle(idle_timeout) })
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Why a body ends early.
pub(super) enum EndedEarly {
    /// It broke off.
    Broke(BoxError),
    /// The attempt's time was up.
    TimedOut,
    /// Nothing came for that long.
    Idle(Duration),
    /// The layer let go of it.
    Cut,
}

impl EndedEarly {
    /// The error that a reader of the body gets.
    pub(super) fn into_error(self) -> BoxError {
        match self {
            EndedEarly::Broke(error) => error,
            EndedEarly::TimedOut => "the response did not end before its attempt's time was up".into(),
            EndedEarly::Idle(timeout) => format!("the response sent nothing more for {timeout:?}").into(),
            EndedEarly::Cut => "the response was let go for another attempt, which could not be made".into(),
        }
    }
}

impl<B> fmt::Debug for OpenBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenBody").finish_non_exhaustive()
    }
}
