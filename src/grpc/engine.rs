//! One operation: attempts over a gRPC service, until one of them answers for good.
//!
//! The layer and the generated client both run this. It is polled by the caller's task: to drop it stops
//! everything at once.

use super::access::{Access, ready_now};
use super::course::{Course, Next, Terms};
use super::incoming::{Incoming, Step};
use super::log::Log;
use super::outgoing::Outgoing;
use super::rest::Tail;
use super::stock::Stock;
use crate::operation::{OperationReport, Timer};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::StdError;

pin_project! {
    /// An operation: the way to its service, and its course.
    pub(crate) struct Operation<A: Access, O> {
        access: A,
        course: Course<O>,
        timer: Timer,
        #[pin]
        phase: Phase<<A::Service as GrpcService<Body>>::Future>,
    }
}

pin_project! {
    #[project = PhaseProj]
    enum Phase<F> {
        // Between attempts: the next one starts now.
        Idle,
        // The service is asked whether it takes a request.
        Ready,
        // The request is out, and the head of the response is awaited.
        Sent { #[pin] future: F },
        // The response comes in, in more than one go.
        Collecting { incoming: Option<Box<Incoming>> },
        // The delay before the next attempt.
        Waiting { until: Option<Instant> },
        // The service takes no request any more.
        Broken { error: Option<StdError> },
        // It failed.
        Failed { status: Option<Status> },
        // The result is out.
        Done,
    }
}

impl<F> From<Next> for Phase<F> {
    fn from(next: Next) -> Self {
        match next {
            Next::Send | Next::Resend => Phase::Ready,
            Next::Attempt | Next::Yield => Phase::Idle,
            Next::Wait(until) => Phase::Waiting { until },
            Next::Stop(status) => Phase::Failed { status: Some(status) },
        }
    }
}

impl<A: Access, O: Outgoing> Operation<A, O> {
    /// An operation that starts when it is first polled.
    #[inline]
    pub(crate) fn new(access: A, course: Course<O>) -> Self {
        Self { access, course, timer: Timer::default(), phase: Phase::Idle }
    }
}

impl<A: Access> Operation<A, Stock> {
    /// An operation that starts now: its caller's own request goes out at once if `service` takes it.
    #[inline]
    pub(crate) fn start(
        access: A,
        service: &mut A::Service,
        mut outgoing: Stock,
        mut request: http::Request<Body>,
        terms: Terms,
    ) -> Self {
        let mut log = Log::default();
        let phase = match log.begin(&mut outgoing) {
            Err(status) => Phase::Failed { status: Some(status) },
            // Whether it is ready is asked again when the operation is polled.
            Ok(()) => match ready_now(service) {
                Poll::Ready(Ok(())) => {
                    outgoing.complete(&mut request);
                    Phase::Sent { future: service.call(request) }
                }
                Poll::Ready(Err(error)) => Phase::Broken { error: Some(error.into()) },
                Poll::Pending => {
                    outgoing.put_off(request);
                    // Nobody knows when it will be polled.
                    log.late = true;
                    Phase::Ready
                }
            },
        };
        Self { access, course: Course::begun(outgoing, terms, log), timer: Timer::default(), phase }
    }
}

impl<A: Access, O: Outgoing> Operation<A, O> {
    /// Goes on. A good response is passed to `deliver`, with what follows its data and the report, if there is
    /// one; that makes of it what the caller gets.
    #[expect(
        clippy::inline_always,
        reason = "each future polls it in one place, and what it makes is large to move"
    )]
    #[inline(always)]
    pub(crate) fn poll<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        deliver: impl FnOnce(Incoming, Tail, Option<OperationReport>, &O) -> Result<T, Status>,
    ) -> Poll<Result<T, Status>> {
        let mut this = self.project();
        let course = this.course;
        loop {
            let polled = match this.phase.as_mut().project() {
                PhaseProj::Idle => Poll::Ready(course.begin()),
                PhaseProj::Ready => match this.access.service().poll_ready(cx) {
                    Poll::Ready(Ok(())) => {
                        let future = this.access.service().call(course.request());
                        this.phase.set(Phase::Sent { future });
                        continue;
                    }
                    Poll::Ready(Err(error)) => {
                        // A service that has failed is not asked again.
                        this.access.renew();
                        Poll::Ready(course.broken(error.into(), false))
                    }
                    Poll::Pending => Poll::Pending,
                },
                PhaseProj::Sent { future } => match future.poll(cx) {
                    Poll::Ready(Ok(response)) => match Incoming::judged(response, course) {
                        Ok(mut incoming) => match incoming.poll(course, cx) {
                            Poll::Ready(Step::Good(tail)) => {
                                this.phase.set(Phase::Done);
                                let report = course.succeeded();
                                return Poll::Ready(deliver(incoming, tail, report, course.outgoing()));
                            }
                            Poll::Ready(Step::Bad(next)) => Poll::Ready(next),
                            Poll::Pending => {
                                this.phase.set(Phase::Collecting { incoming: Some(Box::new(incoming)) });
                                Poll::Pending
                            }
                        },
                        Err(next) => Poll::Ready(next),
                    },
                    Poll::Ready(Err(error)) => Poll::Ready(course.broken(error.into(), false)),
                    Poll::Pending => Poll::Pending,
                },
                PhaseProj::Collecting { incoming: place } => match place.as_mut() {
                    Some(incoming) => match incoming.poll(course, cx) {
                        Poll::Ready(Step::Good(tail)) => {
                            let Some(incoming) = place.take() else {
                                return Poll::Pending;
                            };
                            this.phase.set(Phase::Done);
                            let report = course.succeeded();
                            return Poll::Ready(deliver(*incoming, tail, report, course.outgoing()));
                        }
                        Poll::Ready(Step::Bad(next)) => Poll::Ready(next),
                        Poll::Pending => Poll::Pending,
                    },
                    None => return Poll::Pending,
                },
                PhaseProj::Waiting { until } => {
                    ready!(this.timer.poll_at(*until, cx));
                    Poll::Ready(Next::Attempt)
                }
                PhaseProj::Broken { error } => match error.take() {
                    Some(error) => Poll::Ready(course.broken(error, false)),
                    None => return Poll::Pending,
                },
                PhaseProj::Failed { status } => match status.take() {
                    Some(status) => return Poll::Ready(Err(status)),
                    None => return Poll::Pending,
                },
                PhaseProj::Done => return Poll::Pending,
            };
            let next = match polled {
                Poll::Ready(next) => next,
                Poll::Pending => {
                    ready!(this.timer.poll_at(course.pending(), cx));
                    if let PhaseProj::Ready = this.phase.as_mut().project() {
                        // A place in the service's queue must not be held through a delay.
                        this.access.renew();
                    }
                    course.timed_out()
                }
            };
            let yields = next.yields();
            this.phase.set(next.into());
            if yields {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}
