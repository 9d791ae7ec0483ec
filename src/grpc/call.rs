//! One call of any kind, with the request that a stock client wrote.

use super::access::Access;
use super::course::{Judge, Terms};
use super::deadline::shorter;
use super::engine::Operation;
use super::failure::unsent;
use super::inbound;
use super::incoming::Incoming;
use super::intake::{Intake, Read};
use super::outgoing::path_of;
use super::passing::Passing;
use super::plan::MethodPlan;
use super::response_body::ResponseBody;
use super::rest::Tail;
use super::stock::{Look, Stock, Usual};
use crate::operation::{Clock, Note, OperationReport, Timer};
use crate::settings::CallOptions;
use gax_retry::MethodKind;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tonic::Status;
use tonic::body::Body;

pin_project! {
    /// An operation, or a call that can be made once only.
    #[project = CallProj]
    pub(crate) enum Call<A: Access> {
        // The request could not be read.
        Failed { status: Option<Status> },
        // The request is read, to be sent as often as needed.
        Reading { reading: Option<Box<Reading<A>>> },
        Operating { #[pin] operation: Operation<A, Stock> },
        Passing { #[pin] call: Passing<A> },
    }
}

impl<A: Access> Call<A> {
    /// A call of a method that no table knows.
    #[inline]
    pub(crate) fn untouched(access: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        Self::Passing { call: Passing::untouched(access, service, request) }
    }

    /// A call that starts now: its request goes out at once if it is there and `service` takes it. `is_named` keeps
    /// tonic's description of the method, for others to see.
    ///
    /// What it returns is large to move, which the bench of instructions shows: it is made where it goes, and in the form
    /// that it has there.
    #[expect(
        clippy::inline_always,
        reason = "it is called in two places, and what it makes is large to move"
    )]
    #[inline(always)]
    pub(crate) fn start<F: From<Self>>(
        access: A,
        service: &mut A::Service,
        mut request: http::Request<Body>,
        plan: &Arc<MethodPlan>,
        kind: Option<MethodKind>,
        is_named: bool,
    ) -> F {
        let Look { options, timeout, usual } = Look::at(&request, is_named);
        let own_plan = plan.of_call(options, shorter(timeout, inbound::time_left()));
        let wants_report = options.is_some_and(|options| options.report);
        if options.is_some() {
            // They are nobody else's.
            request.extensions_mut().remove::<CallOptions>();
        }
        let plan = own_plan.unwrap_or_else(|| Arc::clone(plan));
        if kind.is_some_and(MethodKind::streams_requests) {
            let note = Note::RequestIsAStream;
            let call = Passing::watched(access, service, request, &plan, note, wants_report);
            return Self::Passing { call }.into();
        }
        let terms = Terms { judge: Judge::of(kind, &plan), wants_report };
        let mut intake = Intake::of(std::mem::take(request.body_mut()), kind.is_some());
        // A stock client's one message is there at once. What is not is asked for again when the call is polled.
        match intake.poll(plan.limits.max_replay_bytes, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(Read::Whole)) => {
                let outgoing = Stock::new(plan, &request, usual, intake.into_message());
                let operation = Operation::start(access, service, outgoing, request, terms);
                Self::Operating { operation }.into()
            }
            read => {
                let call = Taken { access, plan, request, usual, intake, terms };
                match read {
                    Poll::Pending => Self::Reading { reading: Some(Box::new(Reading::of(call))) },
                    Poll::Ready(read) => call.ended(read),
                }
                .into()
            }
        }
    }
}

impl<A: Access> Future for Call<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let next = match self.as_mut().project() {
                CallProj::Failed { status } => {
                    return status.take().map_or(Poll::Pending, |status| Poll::Ready(Err(status)));
                }
                CallProj::Reading { reading: place } => {
                    let read = match place.as_mut() {
                        Some(reading) => ready!(reading.poll(cx)),
                        None => return Poll::Pending,
                    };
                    match place.take() {
                        Some(reading) => reading.ended(read),
                        None => return Poll::Pending,
                    }
                }
                CallProj::Operating { operation } => {
                    return operation
                        .poll(cx, |incoming, tail, report, _| Ok(response(incoming, tail, report)));
                }
                CallProj::Passing { call } => return call.poll(cx),
            };
            self.set(next);
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
struct Taken<A> {
    access: A,
    plan: Arc<MethodPlan>,
    request: http::Request<Body>,
    usual: Option<Usual>,
    intake: Intake,
    terms: Terms,
}

impl<A: Access> Taken<A> {
    /// What follows, now that the request's body has been read.
    #[cold]
    fn ended(self, read: Result<Read, Status>) -> Call<A> {
        let Self { mut access, plan, mut request, usual, intake, terms } = self;
        let mut service = access.service().clone();
        match read {
            Ok(Read::Whole) => {
                let outgoing = Stock::new(plan, &request, usual, intake.into_message());
                let operation = Operation::start(access, &mut service, outgoing, request, terms);
                Call::Operating { operation }
            }
            Ok(Read::Stream(note)) => {
                *request.body_mut() = intake.into_body();
                let call = Passing::watched(access, &mut service, request, &plan, note, terms.wants_report);
                Call::Passing { call }
            }
            Err(status) => Call::Failed { status: Some(unsent(status, path_of(request.uri()))) },
        }
    }
}

/// A call whose request's body is read before the first attempt, on the operation's time.
#[derive(Debug)]
struct Reading<A> {
    call: Taken<A>,
    clock: Clock,
    timer: Timer,
}

impl<A: Access> Reading<A> {
    fn of(call: Taken<A>) -> Self {
        Self { call, clock: Clock::start(), timer: Timer::default() }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Read, Status>> {
        let Taken { plan, intake, .. } = &mut self.call;
        let read = intake.poll(plan.limits.max_replay_bytes, cx);
        if read.is_pending() {
            let deadline = plan.total.and_then(|total| self.clock.at(total));
            ready!(self.timer.poll_at(deadline, cx));
            return Poll::Ready(Err(Status::deadline_exceeded("the request's body did not end in time")));
        }
        read
    }

    /// What follows, in the time that is left.
    fn ended(self, read: Result<Read, Status>) -> Call<A> {
        let Self { mut call, clock, .. } = self;
        let left = call.plan.total.map(|total| total.saturating_sub(clock.elapsed()));
        if let Some(plan) = call.plan.of_call(None, left) {
            call.plan = plan;
        }
        call.ended(read)
    }
}
