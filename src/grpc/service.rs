//! The service that the layer makes.

use super::collect::Collected;
use super::course::{Course, Judge};
use super::deadline;
use super::engine::{Operation, Success};
use super::failure::unsent;
use super::methods::{Found, Methods};
use super::outgoing::{Outgoing, path_of};
use super::passing::Passing;
use super::plan::MethodPlan;
use super::response_body::ResponseBody;
use super::transport::Transport;
use crate::operation::{Jitter, JitterSeeds, Note};
use crate::settings::{CallOptions, Limits};
use bytes::Bytes;
use http::request::Parts;
use http_body::{Body as HttpBody, Frame};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// Runs every call as an operation; made by [`RetryLayer`](crate::RetryLayer).
///
/// # Cancel safety
///
/// To drop a call's future stops it at once: no attempt, wait or timer outlives it. The server sees the
/// stream reset.
#[derive(Debug, Clone)]
pub struct RetryService<S> {
    inner: S,
    config: Arc<Config>,
}

/// What all calls through a layer share.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) methods: Methods,
    pub(crate) limits: Limits,
    pub(crate) jitter: JitterSeeds,
}

impl<S> RetryService<S> {
    pub(crate) fn new(inner: S, config: Arc<Config>) -> Self {
        Self { inner, config }
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
        let found = match self.config.methods.find(path) {
            None if changes_settings() => Some(self.config.methods.unlisted(path)),
            found => found,
        };
        let Some(Found { plan, kind }) = found else {
            return ResponseFuture { state: State::Passing { call: Passing::untouched(service, request) } };
        };
        let (mut parts, body) = request.into_parts();
        let options =
            (!parts.extensions.is_empty()).then(|| parts.extensions.remove::<CallOptions>()).flatten();
        let plan = plan.for_call(options.as_ref(), deadline::from_headers(&parts.headers));
        let wants_report = options.is_some_and(|options| options.report);
        if kind.is_some_and(|kind| !kind.is_unary()) {
            let request = http::Request::from_parts(parts, body);
            let note =
                kind.is_some_and(gax_retry::MethodKind::streams_requests).then_some(Note::RequestIsAStream);
            let call = Passing::watched(service, request, plan, note, wants_report);
            return ResponseFuture { state: State::Passing { call } };
        }
        let judge = if kind.is_some() { Judge::Whole } else { Judge::FirstMessage };
        let limits = self.config.limits;
        let terms = Terms { plan, limits, judge, wants_report, jitter: self.config.jitter.next() };
        let mut intake = Intake { body, read: Collected::default() };
        // A stock client's unary request is there at once: then the operation can be made in its place. What
        // is not there is asked for again when the future is polled.
        // Each future is made where it is returned, since it is large to move.
        match intake.poll(&terms, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(read)) => ResponseFuture { state: terms.state(service, parts, intake, &read) },
            Poll::Ready(Err(status)) => {
                let status = Some(unsent(status, path_of(&parts.uri)));
                ResponseFuture { state: State::Failed { status } }
            }
            Poll::Pending => {
                let reading = Some(Reading { parts, intake, terms });
                ResponseFuture { state: State::Reading { service: Some(service), reading } }
            }
        }
    }
}

pub(crate) fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
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
        Reading { service: Option<S>, reading: Option<Reading> },
        Operating { #[pin] operation: Operation<S> },
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
                StateProj::Reading { service, reading } => {
                    let read = match reading.as_mut() {
                        Some(reading) => match ready!(reading.intake.poll(&reading.terms, cx)) {
                            Ok(read) => read,
                            Err(status) => {
                                return Poll::Ready(Err(unsent(status, path_of(&reading.parts.uri))));
                            }
                        },
                        None => return Poll::Pending,
                    };
                    let (Some(service), Some(reading)) = (service.take(), reading.take()) else {
                        return Poll::Pending;
                    };
                    let Reading { parts, intake, terms } = reading;
                    terms.state(service, parts, intake, &read)
                }
                StateProj::Operating { operation } => {
                    return match ready!(operation.poll(cx)) {
                        Ok(success) => Poll::Ready(Ok(response(success))),
                        Err(status) => Poll::Ready(Err(status)),
                    };
                }
                StateProj::Passing { call } => return call.poll(cx),
            };
            state.set(next);
        }
    }
}

#[inline]
fn response(success: Success) -> http::Response<ResponseBody> {
    let Success { mut parts, collected, rest, report } = success;
    if let Some(report) = report {
        parts.extensions.insert(report);
    }
    let body = match rest {
        Some(rest) => ResponseBody::open(collected, rest),
        None => ResponseBody::whole(collected),
    };
    http::Response::from_parts(parts, body)
}

/// A request whose body is read before the first attempt.
#[derive(Debug)]
struct Reading {
    parts: Parts,
    intake: Intake,
    terms: Terms,
}

/// A request's body, and what has been read of it.
#[derive(Debug)]
struct Intake {
    body: Body,
    read: Collected,
}

/// What a call is made by.
#[derive(Debug)]
struct Terms {
    plan: Arc<MethodPlan>,
    limits: Limits,
    judge: Judge,
    wants_report: bool,
    jitter: Jitter,
}

/// What reading a request has shown.
enum Read {
    /// The whole of it: one frame.
    Whole,
    /// There is more, or there may be: it is sent on as it comes.
    Stream(Note),
}

impl Intake {
    /// A unary request is waited for. Where nobody knows the method's kind, a body that is not there at once
    /// is a stream.
    #[inline]
    fn poll(&mut self, terms: &Terms, cx: &mut Context<'_>) -> Poll<Result<Read, Status>> {
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(frame)) => frame?,
                Poll::Ready(None) => return Poll::Ready(Ok(Read::Whole)),
                Poll::Pending if terms.judge == Judge::FirstMessage => {
                    return Poll::Ready(Ok(Read::Stream(Note::RequestIsAStream)));
                }
                Poll::Pending => return Poll::Pending,
            };
            if let Ok(data) = frame.into_data() {
                let is_first = self.read.is_empty();
                self.read.push(data);
                if !is_first && terms.judge == Judge::FirstMessage {
                    return Poll::Ready(Ok(Read::Stream(Note::RequestIsAStream)));
                }
                if !is_first && self.read.len() > terms.limits.max_replay_bytes {
                    return Poll::Ready(Ok(Read::Stream(Note::RequestTooLargeToReplay)));
                }
            }
        }
    }
}

impl Terms {
    #[inline]
    fn state<S: Transport>(self, service: S, parts: Parts, intake: Intake, read: &Read) -> State<S> {
        let Self { plan, limits, judge, wants_report, jitter } = self;
        let Intake { body, read: taken } = intake;
        match read {
            Read::Whole => {
                let replayable = taken.len() <= limits.max_replay_bytes;
                let outgoing = Outgoing::new(parts, taken.into_bytes(), replayable);
                let course = Course::new(plan, limits, judge, outgoing, wants_report, jitter);
                State::Operating { operation: Operation::new(service, course) }
            }
            Read::Stream(note) => {
                let body = Body::new(Resumed { read: taken, body });
                let request = http::Request::from_parts(parts, body);
                let call = Passing::watched(service, request, plan, Some(*note), wants_report);
                State::Passing { call }
            }
        }
    }
}

/// A body of which some frames have been read already.
#[derive(Debug)]
struct Resumed {
    read: Collected,
    body: Body,
}

impl HttpBody for Resumed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.read.pop() {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None => Pin::new(&mut self.body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && self.body.is_end_stream()
    }
}
