//! The future of a call through the layer.

use super::access::{Access as _, OnDemand};
use super::course::Terms;
use super::engine::Operation;
use super::failure::unsent;
use super::incoming::Incoming;
use super::intake::{Intake, Read};
use super::outgoing::path_of;
use super::passing::Passing;
use super::plan::MethodPlan;
use super::response_body::ResponseBody;
use super::rest::Tail;
use super::stock::{Stock, Usual};
use super::transport::Transport;
use crate::operation::{Clock, OperationReport, Timer};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic::body::Body;

pin_project! {
    /// The future of [`RetryService`](crate::RetryService).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S: Transport> {
        #[pin]
        state: State<S>,
    }
}

pin_project! {
    #[project = StateProj]
    pub(super) enum State<S: Transport> {
        // The request could not be read.
        Failed { status: Option<Status> },
        // The request is read, to be sent as often as needed.
        Reading { reading: Option<Box<Reading<S>>> },
        Operating { #[pin] operation: Operation<OnDemand<S>, Stock> },
        Passing { #[pin] call: Passing<OnDemand<S>> },
    }
}

impl<S: Transport> From<State<S>> for ResponseFuture<S> {
    #[inline]
    fn from(state: State<S>) -> Self {
        Self { state }
    }
}

impl<S: Transport> fmt::Debug for ResponseFuture<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

impl<S: Transport> Future for ResponseFuture<S> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            let next = match state.as_mut().project() {
                StateProj::Failed { status } => {
                    return status.take().map_or(Poll::Pending, |status| Poll::Ready(Err(status)));
                }
                StateProj::Reading { reading: place } => {
                    let read = match place.as_mut() {
                        Some(reading) => ready!(reading.poll(cx)),
                        None => return Poll::Pending,
                    };
                    match place.take() {
                        Some(reading) => reading.ended(read),
                        None => return Poll::Pending,
                    }
                }
                StateProj::Operating { operation } => {
                    return operation
                        .poll(cx, |incoming, tail, report, _| Ok(response(incoming, tail, report)));
                }
                StateProj::Passing { call } => return call.poll(cx),
            };
            state.set(next);
        }
    }
}

#[inline]
fn response(
    Incoming { mut parts, collected, .. }: Incoming,
    tail: Tail,
    report: Option<OperationReport>,
) -> http::Response<ResponseBody> {
    if let Some(report) = report {
        parts.extensions.insert(report);
    }
    http::Response::from_parts(parts, ResponseBody::new(collected, tail))
}

/// A call whose request has yet to be sent.
#[derive(Debug)]
pub(super) struct Taken<S> {
    pub(super) access: OnDemand<S>,
    pub(super) plan: Arc<MethodPlan>,
    pub(super) request: http::Request<Body>,
    pub(super) usual: Option<Usual>,
    pub(super) intake: Intake,
    pub(super) terms: Terms,
}

impl<S: Transport> Taken<S> {
    /// What follows, now that the request's body has been read.
    #[cold]
    pub(super) fn ended(self, read: Result<Read, Status>) -> State<S> {
        let Self { mut access, plan, mut request, usual, intake, terms } = self;
        let mut service = access.service().clone();
        match read {
            Ok(Read::Whole) => {
                let outgoing = Stock::new(plan, &request, usual, intake.into_message());
                let operation = Operation::start(access, &mut service, outgoing, request, terms);
                State::Operating { operation }
            }
            Ok(Read::Stream(note)) => {
                *request.body_mut() = intake.into_body();
                let call =
                    Passing::watched(access, &mut service, request, &plan, Some(note), terms.wants_report);
                State::Passing { call }
            }
            Err(status) => State::Failed { status: Some(unsent(status, path_of(request.uri()))) },
        }
    }
}

/// A call whose request's body is read before the first attempt, on the operation's time.
#[derive(Debug)]
pub(super) struct Reading<S> {
    call: Taken<S>,
    clock: Clock,
    timer: Timer,
}

impl<S: Transport> Reading<S> {
    pub(super) fn of(call: Taken<S>) -> Self {
        Self { call, clock: Clock::start(), timer: Timer::default() }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Read, Status>> {
        let Taken { plan, intake, terms, .. } = &mut self.call;
        let read = intake.poll(terms.judge, plan.limits, cx);
        if read.is_pending() {
            let deadline = plan.total.and_then(|total| self.clock.at(total));
            ready!(self.timer.poll_at(deadline, cx));
            return Poll::Ready(Err(Status::deadline_exceeded("the request's body did not end in time")));
        }
        read
    }

    /// What follows, in the time that is left.
    fn ended(self, read: Result<Read, Status>) -> State<S> {
        let Self { mut call, clock, .. } = self;
        let left = call.plan.total.map(|total| total.saturating_sub(clock.elapsed()));
        if let Some(plan) = call.plan.of_call(None, left) {
            call.plan = plan;
        }
        call.ended(read)
    }
}
