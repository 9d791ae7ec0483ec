//! The two sides of a transfer, as its protocol sees them.

use crate::http::ReplayBody;
use crate::http::response::OpenBody;
use crate::http::transfer::activity::Activity;
use crate::http::transfer::error::Failure;
use crate::http::transfer::progress::{TransferProgress, TransferReport};
use crate::operation::{Note, Timer};
use crate::transport::BoxError;
use bytes::{Bytes, BytesMut};
use gax_retry::Code;
use gax_retry::http::HttpFailure;
use http_body_util::combinators::UnsyncBoxBody;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// A future of an attempt.
pub(super) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A request that is ready, and what it is for.
pub(super) type Prepared<P> = Result<(P, http::Request<ReplayBody>), Failure>;

/// An upload or a download, between its requests: what to send next, and what a response means.
pub(super) trait Exchange<'a>: Send {
    /// The purpose of a request.
    type Step: Copy + Send;

    /// The operation's name.
    fn name(&self) -> &str;

    /// A fact that its requests don't show, for the report.
    fn note(&self) -> Option<Note> {
        None
    }

    /// Makes the next request ready.
    fn prepare(&mut self, activity: &Arc<Activity>) -> Boxed<'a, Prepared<Self::Step>>;

    /// Reads a response.
    fn read(&mut self, step: Self::Step, head: http::response::Parts, body: Incoming) -> Boxed<'a, Received>;

    /// An attempt has its response, as far as it was read.
    fn received(&mut self, step: Self::Step, received: Received) -> Ending;

    /// An attempt has ended without a response. Returns whether it has brought the transfer on, and what is wrong on our own
    /// side, if that is why.
    fn lost(&mut self, step: Option<Self::Step>) -> (bool, Option<Failure>);

    /// How far the transfer has come, with that in flight.
    fn progress(&self, in_flight: &Activity) -> TransferProgress;

    /// How far it came, for the report.
    fn summary(&self) -> TransferReport;
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
    /// The body broke off.
    Broken(BoxError),
    /// Nothing more of it came in time.
    Stalled(BoxError),
    /// Something is wrong on our own side, or with what it says.
    Failed(Failure),
}

/// The outcome of an attempt.
pub(super) enum Ending {
    /// The transfer is whole.
    Done(Box<http::Response<Bytes>>),
    /// There is more to do, and nothing went wrong.
    NotDone { progress: bool },
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
    /// As the layer has it.
    As(HttpFailure),
    /// As that code, and it is retried.
    Always(Code),
    /// As that code, and it is not.
    Never(Code),
}

/// The body of a response, whose pauses are limited.
pub(super) struct Incoming {
    body: OpenBody<UnsyncBoxBody<Bytes, BoxError>>,
    timer: Timer,
}

/// The most that is read of a response which is no content.
const MOST: usize = 1024 * 1024;

impl Incoming {
    pub(super) fn new(body: OpenBody<UnsyncBoxBody<Bytes, BoxError>>) -> Self {
        Self { body, timer: Timer::default() }
    }

    /// Its next bytes.
    ///
    /// # Errors
    ///
    /// It broke off, or stalled.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, End>> {
        let Self { body, timer } = self;
        loop {
            let frame = poll_fn(|cx| {
                loop {
                    match body.poll_in_time(cx) {
                        Poll::Ready(frame) => return Poll::Ready(frame),
                        Poll::Pending => std::task::ready!(timer.poll_at(body.due(), cx)),
                    }
                }
            });
            match frame.await? {
                Ok(frame) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => return Some(Ok(data)),
                    Err(_trailers) => {}
                },
                Err(early) if early.is_of_time() => return Some(Err(End::Stalled(early.into_error()))),
                Err(early) => return Some(Err(End::Broken(early.into_error()))),
            }
        }
    }

    /// All of it, if it is short; otherwise its begin.
    pub(super) async fn collect(&mut self) -> (Bytes, End) {
        let mut content = BytesMut::new();
        while let Some(data) = self.next().await {
            match data {
                Ok(data) => content.extend_from_slice(&data),
                Err(end) => return (content.freeze(), end),
            }
            if content.len() >= MOST {
                content.truncate(MOST);
                break;
            }
        }
        (content.freeze(), End::Whole)
    }

    /// The request's body is sent to its end.
    pub(super) fn release_request(&mut self) {
        self.body.release_request();
    }
}
