//! One call of any kind, with the request that tonic's own client wrote.

use super::passthrough::Passthrough;
use crate::grpc::methods::{MethodPlan, PREVIOUS_ATTEMPTS};
use crate::grpc::protocol::{GrpcAttempt, GrpcProtocol};
use crate::grpc::request::{
    CapturedRequest, Inspection, OwnParts, Read, RequestBuffer, RequestStream, path_of,
};
use crate::grpc::response::{ObservedStream, ReadExtent, Remainder, ReplySlot, ResponseBody};
use crate::grpc::status::not_sent;
use crate::grpc::transport::ServiceHandle;
use crate::operation::{Driver, Note, Observed, earlier, time_left};
use crate::settings::CallOptions;
use gax_retry::{MethodKind, StartedAttempt, Stop};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tonic::Status;
use tonic::body::Body;
use tonic::client::GrpcService;

pin_project! {
    /// An operation, or a call of a method that no table knows.
    #[project = CallProj]
    pub(crate) enum Call<A: ServiceHandle> {
        // It has not started, or the request could not be read.
        Failed { status: Option<Status> },
        Operating { #[pin] driver: Driver<GrpcProtocol<A, CapturedRequest>>, wants_report: bool },
        Passthrough { #[pin] call: Passthrough<A> },
    }
}

impl<A: ServiceHandle> Call<A> {
    /// A call that has yet to start. It is large to move, so that it starts where it is going to stay (bench `speed`,
    /// instructions).
    #[inline]
    pub(crate) fn unstarted() -> Self {
        Self::Failed { status: None }
    }

    /// A call of a method that no table knows.
    #[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "only the layer passes calls through"))]
    #[inline]
    pub(crate) fn pass_through(&mut self, handle: A, service: &mut A::Service, request: http::Request<Body>) {
        *self = Self::Passthrough { call: Passthrough::new(handle, service, request) };
    }

    /// A call that starts now. If its request is there and `service` takes it, that is to be sent at once, and told by
    /// [`sent`](Self::sent): to hand it on would copy it (bench `speed`, instructions). If it is watched, somebody on the
    /// way may look at its extensions.
    #[inline]
    pub(crate) fn start(
        &mut self,
        handle: A,
        service: &mut A::Service,
        request: &mut http::Request<Body>,
        plan: Arc<MethodPlan>,
        kind: Option<MethodKind>,
        is_watched: bool,
    ) -> Option<StartedAttempt> {
        let Inspection { options, timeout, own, has_count } = Inspection::at(request, &plan, is_watched);
        let own_plan = plan.of_call(options);
        let bound = earlier(timeout, time_left());
        let wants_report = options.and_then(|options| options.report).unwrap_or(plan.limits.reports);
        if options.is_some() {
            // No other layer below may act on them.
            request.extensions_mut().remove::<CallOptions>();
        }
        if has_count {
            request.headers_mut().remove(PREVIOUS_ATTEMPTS);
        }
        let mut plan = own_plan.unwrap_or(plan);
        // By gax-java's rules an attempt outlives the total timeout, but not what the call gives itself.
        let bound = earlier(bound, plan.timeout);
        let mut extent = ReadExtent::of(kind, plan.policy.commit_point());
        let captured = if kind.is_some_and(MethodKind::streams_requests) {
            extent = ReadExtent::of_request_stream(kind, &plan);
            stream(request, own, &plan)
        } else {
            let mut buffer = RequestBuffer::of(std::mem::take(request.body_mut()), kind.is_some());
            // The single message of tonic's own client is there at once. If more is to come, it is read when the call is polled.
            match buffer.poll(plan.limits.max_replay_bytes, &mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(Read::Whole)) => CapturedRequest::new(request, own, buffer.into_message()),
                Poll::Ready(Ok(Read::Stream(note))) => {
                    extent = ReadExtent::Head;
                    *request.body_mut() = buffer.into_body();
                    plan = Arc::new(plan.for_stream());
                    match note {
                        Note::RequestIsAStream => stream(request, own, &plan),
                        note => CapturedRequest::once(request, note),
                    }
                }
                Poll::Ready(Err(status)) => {
                    *self = Self::Failed { status: Some(not_sent(status, path_of(request.uri()))) };
                    return None;
                }
                Poll::Pending => {
                    let captured = CapturedRequest::unread(std::mem::take(request), own, buffer);
                    let mut driver = Driver::new(GrpcProtocol::new(handle, captured, extent), plan);
                    driver.prepare(bound);
                    *self = Self::Operating { driver, wants_report };
                    return None;
                }
            }
        };
        let driver = Driver::new(GrpcProtocol::new(handle, captured, extent), plan);
        // What was there holds nothing, and to drop it would be a call (bench `speed`, instructions).
        std::mem::forget(std::mem::replace(self, Self::Operating { driver, wants_report }));
        let Self::Operating { driver, .. } = self else { return None };
        let started = driver.start(bound)?;
        let (protocol, plan, mut current) = driver.parts();
        let Some(other) = protocol.first(service, plan, started, &mut current, request) else {
            return Some(started);
        };
        driver.sent(started, other);
        None
    }

    /// The request has been sent.
    #[inline]
    pub(crate) fn sent(
        &mut self,
        started: StartedAttempt,
        future: <A::Service as GrpcService<Body>>::Future,
    ) {
        if let Self::Operating { driver, .. } = self {
            driver.sent(started, GrpcAttempt::Sent { future });
        }
    }
}

/// A stream of requests, which is buffered as it is sent where that is asked for.
#[cold]
fn stream(request: &mut http::Request<Body>, own: Option<OwnParts>, plan: &MethodPlan) -> CapturedRequest {
    let Some(memory) = &plan.replay_memory else {
        return CapturedRequest::once(request, Note::RequestIsAStream);
    };
    let live = std::mem::take(request.body_mut());
    let stream = RequestStream::new(live, &plan.limits, memory);
    CapturedRequest::stream(request, own, stream)
}

impl<A: ServiceHandle> Future for Call<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Written where it is returned: see `Protocol::Reply`.
        let mut reply = Poll::Pending;
        match self.project() {
            CallProj::Operating { driver, wants_report } => operate(driver, *wants_report, cx, &mut reply),
            CallProj::Passthrough { call } => reply = call.poll(cx),
            CallProj::Failed { status } => {
                if let Some(status) = status.take() {
                    reply = Poll::Ready(Err(status));
                }
            }
        }
        reply
    }
}

fn operate<A: ServiceHandle>(
    mut driver: Pin<&mut Driver<GrpcProtocol<A, CapturedRequest>>>,
    wants_report: bool,
    cx: &mut Context<'_>,
    reply: &mut ReplySlot,
) {
    if let Poll::Ready(stop) = driver.as_mut().poll(cx, reply) {
        let observed = driver.as_mut().take_observed();
        if stop.is_some() || wants_report || observed.is_some() || driver.has_news() {
            finish(driver, wants_report, observed, stop, reply);
        }
    }
}

/// There is something to tell.
#[cold]
fn finish<A: ServiceHandle>(
    mut driver: Pin<&mut Driver<GrpcProtocol<A, CapturedRequest>>>,
    wants_report: bool,
    observed: Option<Box<Observed>>,
    stop: Option<Stop>,
    reply: &mut ReplySlot,
) {
    match (stop, reply) {
        (None, Poll::Ready(Ok(response))) => {
            if let Some(observed) = observed {
                let may_stream = driver.as_mut().protocol().may_stream();
                observe(response.body_mut(), observed, may_stream);
            }
            if wants_report || driver.has_news() {
                response.extensions_mut().insert(driver.report(None));
            }
        }
        (None, _) => {}
        (Some(stop), reply) => *reply = Poll::Ready(Err(driver.failed(stop))),
    }
}

/// Closes the operation, or leaves that to what is still to come of its response.
fn observe(body: &mut ResponseBody, observed: Box<Observed>, may_stream: bool) {
    match &mut body.remainder {
        Remainder::Open(open_body) => open_body.observe(ObservedStream::new(observed, may_stream)),
        Remainder::End | Remainder::Trailers(_) | Remainder::Unread(_) => {
            ObservedStream::whole(observed, &body.frames, may_stream);
        }
    }
}
