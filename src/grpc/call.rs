//! One call of any kind, with the request that a stock client wrote.

use super::passthrough::Passthrough;
use crate::grpc::methods::MethodPlan;
use crate::grpc::methods::timeout::shorter;
use crate::grpc::protocol::{GrpcProtocol, Reply};
use crate::grpc::request::{CapturedRequest, Inspection, Read, RequestBuffer, path_of};
use crate::grpc::response::{ObservedStream, ReadExtent, Remainder, ResponseBody};
use crate::grpc::status::not_sent;
use crate::grpc::transport::ServiceHandle;
use crate::operation::{Driver, Finished, Note, Observed, OperationReport, Protocol as _, time_left};
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
    /// An operation, or a call of a method that no table knows.
    #[project = CallProj]
    pub(crate) enum Call<A: ServiceHandle> {
        // The request could not be read.
        Failed { status: Option<Status> },
        Operating { #[pin] driver: Driver<GrpcProtocol<A, CapturedRequest>>, wants_report: bool },
        Passthrough { #[pin] call: Passthrough<A> },
    }
}

impl<A: ServiceHandle> Call<A> {
    /// A call of a method that no table knows.
    #[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "only the layer passes calls through"))]
    #[inline]
    pub(crate) fn untouched(handle: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        Self::Passthrough { call: Passthrough::new(handle, service, request) }
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
        handle: A,
        service: &mut A::Service,
        mut request: http::Request<Body>,
        plan: &Arc<MethodPlan>,
        kind: Option<MethodKind>,
        is_named: bool,
    ) -> F {
        let Inspection { options, timeout, compact } = Inspection::at(&request, is_named);
        let own_plan = plan.of_call(options);
        let bound = shorter(timeout, time_left());
        let wants_report = options.and_then(|options| options.report).unwrap_or(plan.limits.reports);
        if options.is_some() {
            // They are nobody else's.
            request.extensions_mut().remove::<CallOptions>();
        }
        let plan = own_plan.unwrap_or_else(|| Arc::clone(plan));
        if kind.is_some_and(MethodKind::streams_requests) {
            let captured = CapturedRequest::once(&request, Note::RequestIsAStream, bound);
            return Self::sent_once(handle, service, request, plan, captured, wants_report).into();
        }
        let extent = ReadExtent::of(kind, plan.policy.commit_point());
        let mut buffer = RequestBuffer::of(std::mem::take(request.body_mut()), kind.is_some());
        // A stock client's one message is there at once. What is not is asked for again when the call is polled.
        match buffer.poll(plan.limits.max_replay_bytes, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(Read::Whole)) => {
                let captured = CapturedRequest::new(&request, compact, buffer.into_message(), bound);
                Self::sent(handle, service, request, plan, captured, extent, wants_report).into()
            }
            Poll::Ready(Ok(Read::Stream(note))) => {
                let captured = CapturedRequest::once(&request, note, bound);
                *request.body_mut() = buffer.into_body();
                let plan = Arc::new(plan.for_stream());
                Self::sent_once(handle, service, request, plan, captured, wants_report).into()
            }
            Poll::Ready(Err(status)) => {
                Self::Failed { status: Some(not_sent(status, path_of(request.uri()))) }.into()
            }
            Poll::Pending => {
                let captured = CapturedRequest::unread(request, compact, buffer, bound);
                let driver = Driver::preparing(GrpcProtocol::new(handle, captured, extent), plan);
                Self::Operating { driver, wants_report }.into()
            }
        }
    }

    /// A request that can't be sent again goes out at once, if the service takes it.
    #[cold]
    fn sent_once(
        handle: A,
        service: &mut A::Service,
        request: http::Request<Body>,
        plan: Arc<MethodPlan>,
        captured: CapturedRequest,
        wants_report: bool,
    ) -> Self {
        Self::sent(handle, service, request, plan, captured, ReadExtent::Head, wants_report)
    }

    /// The first attempt goes out at once, if the service takes it.
    #[expect(clippy::inline_always, reason = "what it makes is large to move")]
    #[inline(always)]
    fn sent(
        handle: A,
        service: &mut A::Service,
        request: http::Request<Body>,
        plan: Arc<MethodPlan>,
        captured: CapturedRequest,
        extent: ReadExtent,
        wants_report: bool,
    ) -> Self {
        let driver = Driver::start(
            GrpcProtocol::new(handle, captured, extent),
            plan,
            |protocol, plan, started, current| {
                protocol.send_now(service, plan, started, current, request, CapturedRequest::complete)
            },
        );
        Self::Operating { driver, wants_report }
    }
}

impl<A: ServiceHandle> Future for Call<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            CallProj::Failed { status } => {
                status.take().map_or(Poll::Pending, |status| Poll::Ready(Err(status)))
            }
            CallProj::Operating { mut driver, wants_report } => {
                Poll::Ready(match ready!(driver.as_mut().poll(cx)) {
                    Finished::Reply(mut reply) => {
                        if let Some(observed) = driver.as_mut().take_observed() {
                            let may_stream = driver.as_mut().protocol().may_stream();
                            observe(&mut reply, observed, may_stream);
                        }
                        let report = (*wants_report || driver.has_news()).then(|| {
                            let name = driver.as_mut().protocol().name();
                            driver.report(None, name)
                        });
                        Ok(response(reply, report))
                    }
                    Finished::Failure(stop) => Err(driver.failed(stop)),
                })
            }
            CallProj::Passthrough { call } => call.poll(cx),
        }
    }
}

/// Closes the operation, or leaves that to what is still to come of its response.
#[cold]
fn observe(reply: &mut Reply, observed: Box<Observed>, may_stream: bool) {
    match &mut reply.remainder {
        Remainder::Open(open_body) => open_body.observe(ObservedStream::new(observed, may_stream)),
        Remainder::End | Remainder::Trailers(_) => {
            ObservedStream::whole(observed, &reply.reader.frames, may_stream);
        }
    }
}

#[expect(clippy::inline_always, reason = "called in one place, and what it takes and makes is large to move")]
#[inline(always)]
fn response(
    Reply { reader, remainder }: Reply,
    report: Option<OperationReport>,
) -> http::Response<ResponseBody> {
    let mut parts = reader.parts;
    if let Some(report) = report {
        parts.extensions.insert(report);
    }
    http::Response::from_parts(parts, ResponseBody::new(reader.frames, remainder))
}
