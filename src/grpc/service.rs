//! The service that the layer makes.

use super::course::{Course, Judge};
use super::engine::Operation;
use super::failure::unsent;
use super::inbound;
use super::incoming::Success;
use super::intake::{Intake, Read};
use super::methods::{Found, Methods};
use super::outgoing::path_of;
use super::passing::Passing;
use super::plan::MethodPlan;
use super::response_body::ResponseBody;
use super::stock::Stock;
use super::transport::Transport;
use crate::operation::Note;
use crate::settings::CallOptions;
use gax_retry::MethodKind;
use http::request::Parts;
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
    methods: Arc<Methods>,
}

impl<S> RetryService<S> {
    pub(crate) fn new(inner: S, methods: Arc<Methods>) -> Self {
        Self { inner, methods }
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

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.inner.clone();
        let path = request.uri().path();
        let changes_settings = || request.extensions().get().is_some_and(CallOptions::changes_settings);
        let found = match self.methods.find(path) {
            None if changes_settings() => Some(self.methods.unlisted(path)),
            found => found,
        };
        let Some(Found { plan, kind }) = found else {
            return ResponseFuture { state: State::Passing { call: Passing::untouched(service, request) } };
        };
        let (mut parts, body) = request.into_parts();
        let options =
            (!parts.extensions.is_empty()).then(|| parts.extensions.remove::<CallOptions>()).flatten();
        let plan = plan
            .of_call(options.as_ref(), inbound::time_left(&parts.headers))
            .unwrap_or_else(|| Arc::clone(plan));
        let wants_report = options.is_some_and(|options| options.report);
        if kind.is_some_and(|kind| !kind.is_unary()) {
            let request = http::Request::from_parts(parts, body);
            let note = kind.is_some_and(MethodKind::streams_requests).then_some(Note::RequestIsAStream);
            let call = Passing::watched(service, request, &plan, note, wants_report);
            return ResponseFuture { state: State::Passing { call } };
        }
        let judge = if kind.is_some() { Judge::Whole } else { Judge::FirstMessage };
        let terms = Terms { plan, judge, wants_report };
        let mut intake = Intake::of(body);
        // A stock client's unary request is there at once. What is not is asked for again when the future is
        // polled.
        // Each future is made where it is returned, since it is large to move.
        match intake.poll(judge, terms.plan.limits, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(read)) => ResponseFuture { state: terms.state(service, parts, intake, &read) },
            Poll::Ready(Err(status)) => {
                let status = Some(unsent(status, path_of(&parts.uri)));
                ResponseFuture { state: State::Failed { status } }
            }
            Poll::Pending => {
                let reading = Some(Box::new(Reading { service, parts, intake, terms }));
                ResponseFuture { state: State::Reading { reading } }
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
        // The request could not be read, or not sent.
        Failed { status: Option<Status> },
        // The request is read, to be sent as often as needed.
        Reading { reading: Option<Box<Reading<S>>> },
        Operating { #[pin] operation: Operation<S, Stock> },
        Passing { #[pin] call: Passing<S> },
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
                    let Some(reading) = place.as_mut() else {
                        return Poll::Pending;
                    };
                    let Reading { intake, terms, parts, .. } = &mut **reading;
                    let read = match ready!(intake.poll(terms.judge, terms.plan.limits, cx)) {
                        Ok(read) => read,
                        Err(status) => return Poll::Ready(Err(unsent(status, path_of(&parts.uri)))),
                    };
                    let Some(reading) = place.take() else {
                        return Poll::Pending;
                    };
                    let Reading { service, parts, intake, terms } = *reading;
                    terms.state(service, parts, intake, &read)
                }
                StateProj::Operating { operation } => return operation.poll(cx, response),
                StateProj::Passing { call } => return call.poll(cx),
            };
            state.set(next);
        }
    }
}

#[inline]
fn response(success: Success, _: &Stock) -> Result<http::Response<ResponseBody>, Status> {
    let Success { mut parts, collected, tail, report } = success;
    if let Some(report) = report {
        parts.extensions.insert(report);
    }
    Ok(http::Response::from_parts(parts, ResponseBody::new(collected, tail)))
}

/// A request whose body is read before the first attempt.
#[derive(Debug)]
struct Reading<S> {
    service: S,
    parts: Parts,
    intake: Intake,
    terms: Terms,
}

/// What a call is made by.
#[derive(Debug)]
struct Terms {
    plan: Arc<MethodPlan>,
    judge: Judge,
    wants_report: bool,
}

impl Terms {
    #[inline]
    fn state<S: Transport>(self, service: S, parts: Parts, intake: Intake, read: &Read) -> State<S> {
        let Self { plan, judge, wants_report } = self;
        match read {
            Read::Whole => {
                let outgoing = Stock::new(plan, &parts, intake.into_message());
                match Operation::start(service, Course::new(outgoing, judge, wants_report), parts) {
                    Ok(operation) => State::Operating { operation },
                    Err(status) => State::Failed { status: Some(status) },
                }
            }
            Read::Stream(note) => {
                let request = http::Request::from_parts(parts, intake.into_body());
                let call = Passing::watched(service, request, &plan, Some(*note), wants_report);
                State::Passing { call }
            }
        }
    }
}
