//! One call of any kind, with the request that tonic's own client wrote.

use super::passthrough::Passthrough;
use crate::grpc::methods::{Found, MethodPlan, PREVIOUS_ATTEMPTS};
use crate::grpc::protocol::{GrpcAttempt, GrpcProtocol};
use crate::grpc::request::{
    CapturedRequest, Inspection, Known, OwnParts, Read, RequestBuffer, RequestStream, Unfinished, path_of,
};
use crate::grpc::response::{ObservedStream, ReadExtent, Remainder, ReplySlot, ResponseBody};
use crate::grpc::status::not_sent;
use crate::grpc::transport::ServiceHandle;
use crate::operation::{Driver, Note, Observed, Output, earlier, time_left};
use crate::settings::CallOptions;
use gax_retry::MethodKind;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
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

    /// A call that starts now. Returns whether its request is there and `service` takes it: that is to be sent at once, and
    /// told by [`sent`](Self::sent), since to hand it on would copy it (bench `speed`, instructions).
    #[inline]
    pub(crate) fn start(
        &mut self,
        handle: A,
        service: &mut A::Service,
        request: &mut http::Request<Body>,
        found: Found,
        known: Known,
    ) -> bool {
        let Found { plan, kind } = found;
        let Inspection { options, timeout, own, has_count } = Inspection::at(request, &plan, known);
        let own_plan = plan.of_call(options);
        let bound = earlier(timeout, time_left());
        let wants_report = options.and_then(|options| options.report).unwrap_or(plan.reports);
        if options.is_some() {
            // No other layer below may act on them.
            request.extensions_mut().remove::<CallOptions>();
        }
        if has_count {
            request.headers_mut().remove(PREVIOUS_ATTEMPTS);
        }
        let plan = own_plan.unwrap_or(plan);
        // By gax-java's rules an attempt outlives the total timeout, but not what the call gives itself.
        let bound = earlier(bound, plan.timeout);
        let read = if kind.is_some_and(MethodKind::streams_requests) {
            Err(None)
        } else {
            RequestBuffer::message_of(request.body_mut(), kind.is_some(), &plan.limits).map_err(Some)
        };
        let message = match read {
            Ok(message) => message,
            Err(read) => {
                let (found, terms) = (Found { plan, kind }, Terms { own, bound, wants_report });
                return self.start_otherwise(handle, service, request, found, read, terms);
            }
        };
        let extent = ReadExtent::of(kind, plan.policy.commit_point());
        let captured = CapturedRequest::new(request, own, message);
        let driver = Driver::new(GrpcProtocol::new(handle, captured, extent), plan);
        // What was there holds nothing, and to drop it would be a call (bench `speed`, instructions).
        std::mem::forget(std::mem::replace(self, Self::Operating { driver, wants_report }));
        self.first(service, request, bound)
    }

    /// The same where the request is not one message that is all there: it may be a stream, or not be there yet.
    #[cold]
    fn start_otherwise(
        &mut self,
        handle: A,
        service: &mut A::Service,
        request: &mut http::Request<Body>,
        found: Found,
        read: Option<Unfinished>,
        terms: Terms,
    ) -> bool {
        let Found { mut plan, kind } = found;
        let Terms { own, bound, wants_report } = terms;
        let mut extent = ReadExtent::of(kind, plan.policy.commit_point());
        let captured = match read {
            None => {
                extent = ReadExtent::of_request_stream(kind, &plan);
                stream(request, own, &plan)
            }
            Some((buffer, Poll::Ready(Ok(Read::Whole)))) => {
                CapturedRequest::new(request, own, buffer.into_message())
            }
            Some((buffer, Poll::Ready(Ok(Read::Stream(note))))) => {
                extent = ReadExtent::Head;
                *request.body_mut() = buffer.into_body();
                plan = Arc::new(plan.for_kind(MethodKind::BidiStreaming));
                match note {
                    Note::RequestIsAStream => stream(request, own, &plan),
                    note => CapturedRequest::once(request, note),
                }
            }
            Some((_, Poll::Ready(Err(status)))) => {
                *self = Self::Failed { status: Some(not_sent(status, path_of(request.uri()))) };
                return false;
            }
            // More is to come: it is read when the call is polled.
            Some((buffer, Poll::Pending)) => {
                let captured = CapturedRequest::unread(std::mem::take(request), own, buffer);
                let mut driver = Driver::new(GrpcProtocol::new(handle, captured, extent), plan);
                driver.begin(bound);
                *self = Self::Operating { driver, wants_report };
                return false;
            }
        };
        let driver = Driver::new(GrpcProtocol::new(handle, captured, extent), plan);
        *self = Self::Operating { driver, wants_report };
        self.first(service, request, bound)
    }

    /// Starts the operation, and makes the request that of its first attempt if `service` takes it.
    #[expect(
        clippy::inline_always,
        reason = "most of it is known where it is called (bench `speed`, instructions)"
    )]
    #[inline(always)]
    fn first(
        &mut self,
        service: &mut A::Service,
        request: &mut http::Request<Body>,
        bound: Option<Duration>,
    ) -> bool {
        let Self::Operating { driver, .. } = self else { return false };
        let Some(started) = driver.begin(bound) else { return false };
        let (protocol, plan, mut current) = driver.parts();
        let other = protocol.first(service, plan, started, &mut current, request);
        let is_to_be_sent = other.is_none();
        if let Some(other) = other {
            driver.sent(other);
        }
        is_to_be_sent
    }

    /// The request has been sent.
    #[inline]
    pub(crate) fn sent(&mut self, future: <A::Service as GrpcService<Body>>::Future) {
        if let Self::Operating { driver, .. } = self {
            driver.sent(GrpcAttempt::Sent { future });
        }
    }
}

/// What a call brings along.
struct Terms {
    own: Option<OwnParts>,
    bound: Option<Duration>,
    wants_report: bool,
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
    match driver.as_mut().poll(cx, reply) {
        Poll::Pending => {}
        Poll::Ready(Output::Failed(stop)) => *reply = Poll::Ready(driver.ended(stop)),
        Poll::Ready(Output::Reply | Output::Item) => {
            let observed = driver.as_mut().take_observed();
            if wants_report || observed.is_some() || driver.has_news() {
                tell(driver, wants_report, observed, reply);
            }
        }
    }
}

/// There is something to tell of the response.
#[cold]
fn tell<A: ServiceHandle>(
    mut driver: Pin<&mut Driver<GrpcProtocol<A, CapturedRequest>>>,
    wants_report: bool,
    observed: Option<Box<Observed>>,
    reply: &mut ReplySlot,
) {
    let Poll::Ready(Ok(response)) = reply else { return };
    if let Some(observed) = observed {
        let may_stream = driver.as_mut().protocol().may_stream();
        let stream = ObservedStream::new(observed, may_stream, driver.config(), driver.has_all_the_time());
        observe(response.body_mut(), stream);
    }
    if wants_report || driver.has_news() {
        response.extensions_mut().insert(driver.report(None));
    }
}

/// Closes the operation, or leaves that to what is still to come of its response.
fn observe(body: &mut ResponseBody, stream: ObservedStream) {
    match &mut body.remainder {
        Remainder::Open(open_body) => open_body.observe(stream),
        Remainder::End | Remainder::Trailers(_) | Remainder::Unread(_) | Remainder::Failed(_) => {
            stream.whole(&body.frames);
        }
    }
}
