//! The two sides of a transfer, as its protocol sees them.

use crate::activity::Activity;
use crate::error::Failure;
use crate::progress::TransferProgress;
use bytes::{Buf as _, Bytes, BytesMut};
use gax_driver::__private::{Clock, Timer, until};
use gax_http::__private::{CutOff, EndedEarly, OpenBody};
use gax_http::ReplayBody;
use gax_retry::Code;
use gax_wire::__private::BoxError;
use http::Method;
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use serde::de::IgnoredAny;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// A future of an attempt.
pub(super) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A request that is ready, and what it is for.
pub(super) type Prepared<P> = Result<(P, http::Request<ReplayBody>), Failure>;

/// An upload or a download, between its requests: what to send next, and what a response means.
pub(super) trait Exchange<'a>: Send {
    /// The purpose of a request.
    type Step: Copy + Send + Unpin;

    /// Makes the next request ready.
    fn prepare(&mut self, activity: &Arc<Activity>) -> Boxed<'a, Prepared<Self::Step>>;

    /// Reads a response.
    fn read(
        &mut self,
        _: Self::Step,
        head: http::response::Parts,
        mut body: Incoming,
    ) -> Boxed<'a, Received> {
        Box::pin(async move { body.collect(head).await })
    }

    /// An attempt has its response, as far as it was read.
    fn received(&mut self, step: Self::Step, received: Received) -> Ending;

    /// An attempt has ended without a response. Returns whether it has brought the transfer on, and what is wrong on our own
    /// side, if that is why.
    fn lost(&mut self, _: Option<Self::Step>) -> (bool, Option<Failure>) {
        (false, None)
    }

    /// How far the transfer has come, if the request in flight has brought it to that place.
    fn progress(&self, _: u64) -> TransferProgress {
        TransferProgress::default()
    }
}

/// A response as far as it was read.
pub(super) struct Received {
    pub(super) head: http::response::Parts,
    /// Of a short body.
    pub(super) content: Bytes,
    pub(super) end: End,
}

impl Received {
    pub(super) fn into_response(self) -> http::Response<Bytes> {
        http::Response::from_parts(self.head, self.content)
    }
}

/// How a response ended.
pub(super) enum End {
    /// As it should.
    Whole,
    /// The body broke off, or nothing more of it came in time.
    Early(EndedEarly),
    /// Something is wrong on our own side, or with what it says.
    Failed(Failure),
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The outcome of an attempt.
pub(super) enum Ending {
    /// The transfer is whole.
    Done(Box<http::Response<Bytes>>),
    /// There is more to do, and nothing went wrong.
    NotDone { progress: bool },
    /// The response ended early.
    Early { why: EndedEarly, progress: bool },
    /// It failed.
    Failed { failure: Failure, class: Class, progress: bool },
}

impl Ending {
    /// A failure that no other attempt can cure.
    pub(super) fn last(code: Code, failure: Failure) -> Self {
        Self::Failed { failure, class: Class::Never(code), progress: false }
    }
}

/// How a failure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// As the layer has the status of its response.
    ByStatus,
    /// As that code, and it is retried.
    Always(Code),
    /// As that code, and it is not.
    Never(Code),
}

/// The body of a response, whose pauses are limited.
pub(super) struct Incoming {
    body: OpenBody<UnsyncBoxBody<Bytes, BoxError>>,
    /// The end of its attempt.
    deadline: Option<Instant>,
}

/// The most that is read of a response which is not content.
const MOST: usize = 1024 * 1024;
/// The longest wait for the end of a response of which everything is there.
const LAST_WAIT: Duration = Duration::from_secs(1);

impl Incoming {
    pub(super) fn new<R>(
        head: &http::response::Parts,
        body: R,
        idle_timeout: Duration,
        cut: Option<CutOff>,
        deadline: Option<Instant>,
    ) -> Self
    where
        R: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
    {
        let body = body
            .map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())))
            .map_err(Into::into)
            .boxed_unsync();
        Self { body: OpenBody::new((&Method::GET, head), body, Some(idle_timeout), cut), deadline }
    }

    /// Its next bytes. Where everything `is_there`, the body's end may be any, and is awaited neither for long nor until the attempt is
    /// over.
    ///
    /// # Errors
    ///
    /// It broke off, or stalled.
    pub(super) async fn next(&mut self, is_there: bool) -> Option<Result<Bytes, EndedEarly>> {
        let left = || self.deadline.map_or(LAST_WAIT, |deadline| LAST_WAIT.min(until(deadline) / 2));
        let wait = is_there.then(left);
        let (mut timer, due) = (Timer::default(), wait.and_then(|wait| Clock::start().at(wait)));
        let idle = || EndedEarly::Idle(wait.unwrap_or_default());
        loop {
            let next = poll_fn(|cx| match self.body.poll_next(cx) {
                Poll::Pending => timer.poll_at(due, cx).map(|()| Some(Err(idle()))),
                next @ Poll::Ready(_) => next,
            });
            match next.await?.map(Frame::into_data) {
                Ok(Ok(data)) if !data.is_empty() => return Some(Ok(data)),
                Ok(_) => {}
                Err(early) => return Some(Err(early)),
            }
        }
    }

    /// The response with all of it, if it is short; otherwise with its begin.
    pub(super) async fn collect(&mut self, head: http::response::Parts) -> Received {
        let (mut content, mut end) = (BytesMut::new(), End::Whole);
        while content.len() < MOST
            && let Some(data) = self.next(is_object(&content)).await
        {
            match data {
                Ok(data) => content.extend_from_slice(&data),
                Err(early) => {
                    end = End::Early(early);
                    break;
                }
            }
        }
        content.truncate(MOST);
        Received { head, content: content.freeze(), end }
    }

    /// The request's body is sent to its end.
    pub(super) fn release_request(&mut self) {
        self.body.release_request();
    }
}

/// Returns whether it is an object of JSON, behind whose end nothing of use comes.
fn is_object(content: &[u8]) -> bool {
    content.trim_ascii_end().ends_with(b"}") && serde_json::from_slice::<IgnoredAny>(content).is_ok()
}
