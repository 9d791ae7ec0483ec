//! The service that the layer makes.

use super::access::{Access as _, OnDemand, Spare};
use super::course::{Judge, Terms};
use super::deadline::shorter;
use super::engine::Operation;
use super::failure::unsent;
use super::inbound;
use super::incoming::Incoming;
use super::intake::{Intake, Read};
use super::methods::{Found, Methods};
use super::outgoing::path_of;
use super::passing::Passing;
use super::plan::MethodPlan;
use super::response_body::ResponseBody;
use super::rest::Tail;
use super::stock::{Look, Stock, Usual};
use super::transport::{Transport, is_bare_channel};
use crate::operation::{Clock, Note, OperationReport, Timer};
use crate::settings::CallOptions;
use gax_retry::MethodKind;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// Runs every call as an operation; made by [`RetryLayer`](crate::RetryLayer).
///
/// An operation starts when the service is called, and goes on when its future is polled.
///
/// # Cancel safety
///
/// To drop a call's future stops it at once: no attempt, wait or timer outlives it. The server sees the
/// stream reset.
#[derive(Debug, Clone)]
pub struct RetryService<S> {
    inner: S,
    spare: Spare<S>,
    methods: Arc<Methods>,
}

impl<S: Clone> RetryService<S> {
    pub(crate) fn new(inner: S, methods: Arc<Methods>) -> Self {
        Self { spare: Spare::of(&inner), inner, methods }
    }
}

impl<S: Transport> Service<http::Request<Body>> for RetryService<S> {
    type Response = http::Response<ResponseBody>;
    type Error = Status;
    type Future = ResponseFuture<S>;

    /// Always ready: whether the service below is, belongs to each attempt, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let access = OnDemand::new(self.spare.clone());
        let path = request.uri().path();
        let found = match self.methods.find(path) {
            None if changes_settings(&request) => Some(self.methods.unlisted(path)),
            found => found,
        };
        let Some(Found { plan, kind }) = found else {
            let call = Passing::untouched(access, &mut self.inner, request);
            return ResponseFuture { state: State::Passing { call } };
        };
        let Look { options, timeout, usual } = Look::at(&request, !is_bare_channel::<S>());
        let own_plan = plan.of_call(options, shorter(timeout, inbound::time_left()));
        let wants_report = options.is_some_and(|options| options.report);
        if options.is_some() {
            // They are nobody else's.
            request.extensions_mut().remove::<CallOptions>();
        }
        let plan = own_plan.unwrap_or_else(|| Arc::clone(plan));
        if kind.is_some_and(|kind| !kind.is_unary()) {
            let note = kind.is_some_and(MethodKind::streams_requests).then_some(Note::RequestIsAStream);
            let call = Passing::watched(access, &mut self.inner, request, &plan, note, wants_report);
            return ResponseFuture { state: State::Passing { call } };
        }
        let terms =
            Terms { judge: if kind.is_some() { Judge::Whole } else { Judge::FirstMessage }, wants_report };
        let mut intake = Intake::of(std::mem::take(request.body_mut()));
        // A stock client's unary request is there at once. What is not is asked for again when the future is
        // polled.
        // Each future is made where it is returned, since it is large to move.
        match intake.poll(terms.judge, plan.limits, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(Read::Whole)) => {
                let outgoing = Stock::new(plan, &request, usual, intake.into_message());
                let operation = Operation::start(access, &mut self.inner, outgoing, request, terms);
                ResponseFuture { state: State::Operating { operation } }
            }
            Poll::Pending => {
                let reading = Reading::of(access, plan, request, usual, intake, terms);
                ResponseFuture { state: State::Reading { reading: Some(Box::new(reading)) } }
            }
            Poll::Ready(read) => {
                let reading = Reading::of(access, plan, request, usual, intake, terms);
                ResponseFuture { state: reading.ended(read) }
            }
        }
    }
}

pin_project! {
    /// The future of [`RetryService`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S: Transport> {
        #[pin]
        state: State<S>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S: Transport> {
        // The request could not be read.
        Failed { status: Option<Status> },
        // The request is read, to be sent as often as needed.
        Reading { reading: Option<Box<Reading<S>>> },
        Operating { #[pin] operation: Operation<OnDemand<S>, Stock> },
        Passing { #[pin] call: Passing<OnDemand<S>> },
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
                        Some(reading) => reading.late().ended(read),
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

fn changes_settings<B>(request: &http::Request<B>) -> bool {
    request.extensions().get().is_some_and(CallOptions::changes_settings)
}

/// A request whose body is read before the first attempt, on the operation's time.
#[derive(Debug)]
struct Reading<S> {
    access: OnDemand<S>,
    plan: Arc<MethodPlan>,
    request: http::Request<Body>,
    usual: Option<Usual>,
    intake: Intake,
    terms: Terms,
    clock: Clock,
    timer: Timer,
}

impl<S: Transport> Reading<S> {
    fn of(
        access: OnDemand<S>,
        plan: Arc<MethodPlan>,
        request: http::Request<Body>,
        usual: Option<Usual>,
        intake: Intake,
        terms: Terms,
    ) -> Self {
        let (clock, timer) = (Clock::start(), Timer::default());
        Self { access, plan, request, usual, intake, terms, clock, timer }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Read, Status>> {
        let read = self.intake.poll(self.terms.judge, self.plan.limits, cx);
        if read.is_pending() {
            let deadline = self.plan.total.and_then(|total| self.clock.at(total));
            ready!(self.timer.poll_at(deadline, cx));
            return Poll::Ready(Err(Status::deadline_exceeded("the request's body did not end in time")));
        }
        read
    }

    /// The same with a plan for the time that is left, now that some has passed.
    fn late(mut self) -> Self {
        let left = self.plan.total.map(|total| total.saturating_sub(self.clock.elapsed()));
        if let Some(plan) = self.plan.of_call(None, left) {
            self.plan = plan;
        }
        self
    }

    /// What follows, now that reading has ended.
    #[cold]
    fn ended(self, read: Result<Read, Status>) -> State<S> {
        let Self { mut access, plan, mut request, usual, intake, terms, .. } = self;
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
