//! Attempts over a gRPC service: requests are sent, responses, statuses and errors become facts.

use super::failed::Failing;
use super::grpc_protocol::GrpcProtocol;
use crate::grpc::methods::MethodConfig;
use crate::grpc::protocol::grpc_protocol::GRPC;
use crate::grpc::request::{CapturedRequest, ReplayableRequest, WatchedBody};
use crate::grpc::response::{ReplySlot, ResponseBody, check_head, read, read_on, unread};
use crate::grpc::status::Failure;
use crate::grpc::status::cause::Progress;
use crate::grpc::template::AttemptTimeout;
use crate::grpc::transport::{ServiceHandle, is_bare_channel, may_have_connections, ready_now};
use gax_driver::__private::{Outgoing, earlier, until};
use gax_driver::observe::Transport;
use gax_driver::protocol::{AttemptContext, Name, Protocol, RefusedCredentials, Start, Step, Unsendable};
use gax_retry::operation::{AttemptResult, CommitPoint, Replayable, Seen};
use gax_retry::{AttemptKind, Code, Delivery, StartedAttempt};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::StdError;

pin_project! {
    /// An attempt in flight.
    #[project = AttemptProj]
    pub enum GrpcAttempt<F> {
        // It waits until the service is ready. It is late if time has passed since it began, so that its request is sent with
        // less than `time`.
        Ready { time: Option<Duration>, is_late: bool },
        // The request was sent, and the response's headers are awaited.
        Sent { #[pin] future: F },
        // The response's body is being read.
        Collecting { response: Box<http::Response<ResponseBody>> },
        // The service below was not ready, and has failed.
        Broken { error: Option<StdError> },
    }
}

/// The end of an attempt for which no connection can be made.
#[inline]
fn unconnected() -> AttemptResult {
    AttemptResult::failed(Code::Unavailable)
}

impl<A: ServiceHandle> GrpcProtocol<A, CapturedRequest> {
    /// Makes the caller's own request that of the first attempt, and sends it if `service` takes it now.
    #[inline]
    pub fn first(
        &mut self,
        service: &mut A::Service,
        config: &MethodConfig,
        started: StartedAttempt,
        context: &mut AttemptContext<'_>,
        mut request: http::Request<Body>,
    ) -> GrpcAttempt<<A::Service as GrpcService<Body>>::Future> {
        self.begun(config, started, context);
        let time = started.deadline();
        let timeout = header(config, time, false, context);
        self.request.write(&mut request, config, started.number(), timeout, false);
        if may_have_connections::<A::Service>() {
            context.link(request.extensions_mut(), config.wait_for_ready, unconnected());
        }
        match ready_now(service) {
            Poll::Ready(Ok(())) => {
                if let Some(outgoing) = context.sending() {
                    watched(&mut request, *outgoing);
                }
                GrpcAttempt::Sent { future: service.call(request) }
            }
            Poll::Ready(Err(error)) => GrpcAttempt::Broken { error: Some(error.into()) },
            // It is asked again when the call is polled, whenever that is.
            Poll::Pending => {
                self.request.put_off(request);
                GrpcAttempt::Ready { time, is_late: true }
            }
        }
    }
}

impl<A: ServiceHandle, Q: ReplayableRequest> GrpcProtocol<A, Q> {
    #[inline]
    fn begun(&mut self, config: &MethodConfig, started: StartedAttempt, context: &mut AttemptContext<'_>) {
        if let Some(note) = self.request.note(config).filter(|_| started.number() == 1) {
            context.note(note);
        }
    }

    /// Nothing has come. More of the request may have been sent than is buffered, which is reported once.
    #[inline]
    fn pending(&self, context: &mut AttemptContext<'_>, cx: &Context<'_>) -> Poll<Step> {
        match self.request.watch(context.number(), cx) {
            Some(note) if context.note(note) => Poll::Ready(Step::Committed(CommitPoint::OverLimit)),
            _ => Poll::Pending,
        }
    }

    /// The attempt has the reply, whose end may still be to come.
    #[inline]
    fn replied(
        &mut self,
        response: &http::Response<ResponseBody>,
        context: &mut AttemptContext<'_>,
    ) -> Poll<Step> {
        let mut result = AttemptResult::done();
        if response.body().is_open() {
            result = result.with_seen(Seen::Messages { resumable: false });
        }
        if let Some(note) = self.request.replied(context.number()) {
            context.note(note);
            result = result.with_replayable(Replayable::OverLimit);
        }
        Poll::Ready(Step::Ended(result))
    }
}

impl<A: ServiceHandle, Q: ReplayableRequest> Protocol for GrpcProtocol<A, Q> {
    type Config = MethodConfig;
    type Attempt = GrpcAttempt<<A::Service as GrpcService<Body>>::Future>;
    type Slot = ReplySlot;

    const TRANSPORT: &'static Transport = &GRPC;

    fn name(&self, config: &MethodConfig) -> Name {
        Name::from(self.request.path(config))
    }

    fn is_described(&self, config: &MethodConfig) -> bool {
        self.request.is_described(config)
    }

    #[inline]
    fn start<'a>(&'a self, config: &'a MethodConfig) -> Start<'a> {
        config.shared.start().within(earlier(config.timeout, self.request.bound()))
    }

    #[inline]
    fn is_prepared(&self) -> bool {
        self.request.is_prepared()
    }

    #[inline]
    fn prepare(&mut self, config: &MethodConfig, cx: &mut Context<'_>) -> Poll<Result<(), Unsendable>> {
        match self.request.prepare(config, cx) {
            Poll::Ready(Ok(())) => {
                self.failure = None;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(status)) => {
                self.failure = Some(Box::new(Failure::transport(status.into(), Progress::Sent).0));
                Poll::Ready(Err(Unsendable))
            }
            Poll::Pending => {
                self.failure.get_or_insert_with(|| Box::new(Failure::unread()));
                Poll::Pending
            }
        }
    }

    #[inline]
    fn begin(
        &mut self,
        config: &MethodConfig,
        started: StartedAttempt,
        context: &mut AttemptContext<'_>,
    ) -> Self::Attempt {
        self.begun(config, started, context);
        GrpcAttempt::Ready { time: started.deadline(), is_late: started.kind() == AttemptKind::Resend }
    }

    #[inline]
    fn poll(
        &mut self,
        config: &MethodConfig,
        mut attempt: Pin<&mut Self::Attempt>,
        context: &mut AttemptContext<'_>,
        cx: &mut Context<'_>,
        reply: &mut ReplySlot,
    ) -> Poll<Step> {
        loop {
            let result = match attempt.as_mut().project() {
                AttemptProj::Ready { time, is_late } => {
                    let (time, was_late) = (*time, std::mem::replace(is_late, true));
                    let is_watched = self.request.is_watched(config) && !is_bare_channel::<A::Service>();
                    let ready = self.handle.when_ready(cx, |service| {
                        let timeout = header(config, time, was_late, context);
                        let number = context.number();
                        let mut request = http::Request::default();
                        self.request.write(&mut request, config, number, timeout, is_watched);
                        // A transparent retry of the first attempt is late, too.
                        if is_watched && (number > 1 || (was_late && context.is_resent())) {
                            mark(&mut request, context);
                        }
                        if may_have_connections::<A::Service>() {
                            context.link(request.extensions_mut(), config.wait_for_ready, unconnected());
                        }
                        if let Some(outgoing) = context.sending() {
                            watched(&mut request, *outgoing);
                        }
                        if let Some(before) = &mut self.failure {
                            before.take_messages();
                        }
                        attempt.set(GrpcAttempt::Sent { future: service.call(request) });
                    });
                    match ready {
                        Poll::Ready(Ok(())) => continue,
                        Poll::Ready(Err(error)) => self.at(config, context).not_ready(error.into()),
                        Poll::Pending => return Poll::Pending,
                    }
                }
                AttemptProj::Sent { mut future } => match future.as_mut().poll(cx) {
                    Poll::Pending => return self.pending(context, cx),
                    Poll::Ready(Ok(response)) => {
                        *reply = Poll::Ready(Ok(unread(response)));
                        let Poll::Ready(Ok(response)) = reply else { return Poll::Pending };
                        match check_head(response, context) {
                            Ok(()) => match read(response, self.extent, config, context, cx) {
                                Poll::Ready(Ok(())) => return self.replied(response, context),
                                Poll::Ready(Err(fault)) => {
                                    *reply = Poll::Pending;
                                    self.at(config, context).faulty(fault)
                                }
                                Poll::Pending => {
                                    if let Some(response) = taken(reply) {
                                        attempt.set(GrpcAttempt::Collecting { response });
                                    }
                                    return Poll::Ready(Step::Committed(CommitPoint::Headers));
                                }
                            },
                            Err(failure) => {
                                let refused = RefusedCredentials::take(response.extensions_mut());
                                *reply = Poll::Pending;
                                let result = self.at(config, context).failed(failure, Seen::Nothing);
                                refused.map_or(result, |refused| refused.add_to(result))
                            }
                        }
                    }
                    Poll::Ready(Err(error)) => self.at(config, context).broken(error.into(), Seen::Nothing),
                },
                AttemptProj::Collecting { response } => {
                    match read_on(response, self.extent, config, context, cx) {
                        Poll::Ready(Ok(())) => {
                            let step = self.replied(response, context);
                            *reply = Poll::Ready(Ok(std::mem::take(&mut **response)));
                            return step;
                        }
                        Poll::Ready(Err(fault)) => self.at(config, context).faulty(fault),
                        Poll::Pending => return self.pending(context, cx),
                    }
                }
                AttemptProj::Broken { error } => match error.take() {
                    Some(error) => self.at(config, context).not_ready(error),
                    None => return Poll::Pending,
                },
            };
            return Poll::Ready(Step::Ended(result));
        }
    }

    fn expire(
        &mut self,
        config: &MethodConfig,
        attempt: Option<Pin<&mut Self::Attempt>>,
        context: &mut AttemptContext<'_>,
    ) -> AttemptResult {
        let Some(attempt) = attempt else {
            return self.at(config, context).timed_out(Seen::Nothing).with_delivery(Delivery::NotSent);
        };
        if self.give_up(&attempt) {
            return self.at(config, context).timed_out(Seen::Nothing).with_delivery(Delivery::NotSent);
        }
        let seen = match attempt.project() {
            AttemptProj::Collecting { .. } => Seen::Headers,
            AttemptProj::Sent { .. } | AttemptProj::Ready { .. } | AttemptProj::Broken { .. } => {
                Seen::Nothing
            }
        };
        self.at(config, context).timed_out(seen)
    }

    fn is_hedgeable(&self, config: &MethodConfig) -> bool {
        self.request.note(config).is_none()
    }

    fn hold(&mut self) {
        if let Some(failure) = &mut self.failure {
            failure.is_held = true;
        }
    }

    fn before_wait(&mut self) {
        if let Some(failure) = &mut self.failure {
            failure.pack();
        }
        self.request.shrink();
    }
}

impl<A: ServiceHandle, Q: ReplayableRequest> Failing for GrpcProtocol<A, Q> {
    #[inline]
    fn kept(&mut self) -> &mut Option<Box<Failure>> {
        &mut self.failure
    }

    fn replayable(&mut self, config: &MethodConfig, context: &mut AttemptContext<'_>) -> Replayable {
        let replayable = self.request.replayable(config, context.number());
        if replayable == Replayable::OverLimit
            && let Some(note) = self.request.note(config)
        {
            context.note(note);
        }
        self.request.ended(context.number());
        replayable
    }

    fn unreadable_request(&self) -> Option<Status> {
        self.request.error()
    }

    /// A place in the service's queue must not be held through a delay.
    fn give_up(&mut self, attempt: &Self::Attempt) -> bool {
        let is_unsent = matches!(attempt, GrpcAttempt::Ready { .. });
        if is_unsent {
            self.handle.renew();
        }
        is_unsent
    }
}

/// A response that takes its time is kept with its attempt.
#[cold]
fn taken(reply: &mut ReplySlot) -> Option<Box<http::Response<ResponseBody>>> {
    match std::mem::replace(reply, Poll::Pending) {
        Poll::Ready(Ok(response)) => Some(Box::new(response)),
        Poll::Ready(Err(_)) | Poll::Pending => None,
    }
}

/// Tells interceptors and layers on the way to the server which attempt this is. The first is not marked, so that a call
/// which succeeds immediately pays nothing for it.
#[cold]
fn mark(request: &mut http::Request<Body>, context: &AttemptContext<'_>) {
    if let Some(started) = context.started() {
        request.extensions_mut().insert(started);
    }
}

/// Adds the headers that observers add, and lets them watch the body if they want to.
#[cold]
fn watched(request: &mut http::Request<Body>, mut outgoing: Outgoing) {
    outgoing.add_headers(request.headers_mut());
    if let Some(outbound) = outgoing.outbound() {
        let body = std::mem::take(request.body_mut());
        *request.body_mut() = Body::new(WatchedBody::new(body, outbound));
    }
}

/// The `grpc-timeout` of an attempt.
#[inline]
fn header(
    config: &MethodConfig,
    time: Option<Duration>,
    is_late: bool,
    context: &AttemptContext<'_>,
) -> AttemptTimeout {
    if is_late {
        return AttemptTimeout::of(time.and_then(|_| context.deadline()).map(until));
    }
    config.headers.timeout(time)
}
