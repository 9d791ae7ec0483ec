//! One operation: attempts over an HTTP service, until one of them answers for good.

use super::BoxError;
use super::body::HttpResponseBody;
use super::cause::{NoBody, Part};
use super::course::{Course, Next};
use super::error::HttpError;
use super::incoming::{Extent, Incoming, Read};
use super::open_body::EndedEarly;
use super::replay::Replay;
use crate::operation::{Spare, Timer};
use http_body::Body;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;
use tower_service::Service;

pin_project! {
    /// The future of [`HttpRetryService`](crate::HttpRetryService).
    ///
    /// # Cancel safety
    ///
    /// To drop it stops everything at once: no attempt, wait or timer outlives it.
    #[must_use = "futures do nothing unless polled"]
    pub struct HttpResponseFuture<S, B, R>
    where
        S: Service<http::Request<B>>,
    {
        service: S,
        spare: Spare<S>,
        course: Course<B, R>,
        #[pin]
        timer: Timer,
        #[pin]
        phase: Phase<S::Future, R>,
    }
}

pin_project! {
    #[project = PhaseProj]
    #[project_replace = PhaseOwned]
    enum Phase<F, R> {
        // Between attempts: the next one starts now.
        Idle,
        // The service is asked whether it takes a request.
        Ready,
        // The request is out, and the head of the response is awaited.
        Sent { #[pin] future: F },
        // The body of the response comes in.
        Collecting { incoming: Incoming<R>, extent: Extent },
        // The delay before the next attempt.
        Waiting { until: Option<Instant> },
        // The result is out.
        Done,
    }
}

impl<S, B, R> HttpResponseFuture<S, B, R>
where
    S: Service<http::Request<B>>,
{
    pub(super) fn new(service: S, spare: Spare<S>, course: Course<B, R>) -> Self {
        Self { service, spare, course, timer: Timer::default(), phase: Phase::Idle }
    }
}

impl<S, B, R> Future for HttpResponseFuture<S, B, R>
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    type Output = Result<http::Response<HttpResponseBody<R>>, HttpError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let course = this.course;
        loop {
            let next = match this.phase.as_mut().project() {
                PhaseProj::Idle => course.begin(),
                PhaseProj::Ready => match this.service.poll_ready(cx) {
                    Poll::Ready(Ok(())) => match course.request() {
                        Some(request) => {
                            let future = this.service.call(request);
                            this.phase.set(Phase::Sent { future });
                            continue;
                        }
                        None => course.broken(Box::new(NoBody), Part::Head),
                    },
                    Poll::Ready(Err(error)) => {
                        // A service that has failed is neither called nor asked again.
                        *this.service = this.spare.copy();
                        course.broken(error.into(), Part::Head)
                    }
                    Poll::Pending => {
                        ready!(this.timer.as_mut().poll_at(course.pending(), cx));
                        // A place in the service's queue must not be held through a delay.
                        *this.service = this.service.clone();
                        course.timed_out()
                    }
                },
                PhaseProj::Sent { future } => match future.poll(cx) {
                    Poll::Ready(Ok(response)) => {
                        course.connection(response.extensions());
                        let incoming = Incoming::new(course.method(), response, course.body_idle_timeout());
                        if let Some(extent) = course.head(incoming.status()) {
                            this.phase.set(Phase::Collecting { incoming, extent });
                            continue;
                        }
                        course.answered(incoming.into_response(Read::NotYet, course.deadline()))
                    }
                    Poll::Ready(Err(error)) => course.broken(error.into(), Part::Head),
                    Poll::Pending => {
                        ready!(this.timer.as_mut().poll_at(course.pending(), cx));
                        course.timed_out()
                    }
                },
                PhaseProj::Collecting { incoming, extent } => {
                    let Poll::Ready(read) = incoming.poll(*extent, &mut this.timer, cx) else {
                        course.pending();
                        return Poll::Pending;
                    };
                    match this.phase.as_mut().project_replace(Phase::Idle) {
                        PhaseOwned::Collecting { incoming, .. } => classified(course, incoming, read),
                        _ => Next::Attempt,
                    }
                }
                PhaseProj::Waiting { until } => {
                    ready!(this.timer.as_mut().poll_at(*until, cx));
                    Next::Attempt
                }
                PhaseProj::Done => return Poll::Pending,
            };
            match next {
                Next::Send => this.phase.set(Phase::Ready),
                Next::Resend => {
                    this.phase.set(Phase::Ready);
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Next::Attempt => this.phase.set(Phase::Idle),
                Next::Wait(until) => this.phase.set(Phase::Waiting { until }),
                Next::Yield => {
                    this.phase.set(Phase::Idle);
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Next::Stop(outcome) => {
                    this.phase.set(Phase::Done);
                    return Poll::Ready(*outcome);
                }
            }
        }
    }
}

/// What follows from a response that was read so far. A status that is no success stands, however its body
/// ends.
fn classified<B, R>(course: &mut Course<B, R>, incoming: Incoming<R>, read: Read) -> Next<R>
where
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    if !incoming.status().is_success() {
        return course.answered(incoming.into_response(read, course.deadline()));
    }
    match read {
        Read::Early(EndedEarly::TimedOut) => course.timed_out(),
        Read::Early(why @ EndedEarly::Idle(_)) => course.stalled(why.into_error()),
        Read::Early(why) => course.broken(why.into_error(), Part::Body),
        // The operation's clock stops: what is still to come may take as long as it likes.
        Read::NotYet | Read::Whole | Read::TooLong => {
            let is_whole = matches!(read, Read::Whole);
            course.succeeded(incoming.into_response(read, None), is_whole)
        }
    }
}

impl<S, B, R> fmt::Debug for HttpResponseFuture<S, B, R>
where
    S: Service<http::Request<B>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponseFuture").finish_non_exhaustive()
    }
}
