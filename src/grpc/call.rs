//! One call of any kind, with the request that tonic's own client wrote.

use crate::grpc::methods::{MethodConfig, MethodMatch};
use crate::grpc::protocol::{GrpcProtocol, failed_call};
use crate::grpc::request::CapturedRequest;
use crate::grpc::response::{ReadExtent, ReplySlot, ResponseBody, hand_over};
use crate::grpc::resumed::{
    BytesCodec, GrpcConnections, IdleTimeout, ResumedBody, StreamCall, StreamProtocol, StreamReport,
};
use crate::grpc::status::not_sent;
use crate::grpc::template::{Inspection, PREVIOUS_ATTEMPTS, path_of};
use crate::grpc::transport::{Passthrough, ServiceHandle, is_bare_channel};
use crate::note;
use crate::resumption::{Resumer, Resumption};
use crate::settings::StreamSettings;
use bytes::Bytes;
use gax_driver::__house::{earlier, time_left};
use gax_driver::CallOptions;
use gax_driver::protocol::{Driver, Output};
use gax_retry::MethodKind;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;

/// The result of a call.
type Reply = Result<http::Response<ResponseBody>, Status>;

/// A call whose response is a stream that resumes.
type BoxCall = Pin<Box<dyn Future<Output = Reply> + Send>>;

pin_project! {
    /// An operation, or a call of a method that no table knows.
    #[project = CallProj]
    pub(crate) enum Call<A: ServiceHandle> {
        // Its request could not be read.
        Failed { status: Option<Status> },
        Operating { #[pin] driver: Driver<GrpcProtocol<A, CapturedRequest>> },
        Passthrough { #[pin] call: Passthrough<A> },
        // Its response is a stream that resumes.
        Resumed { call: BoxCall },
    }
}

impl<A: ServiceHandle> Call<A> {
    /// A call of a method that no table knows.
    #[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "only the layer passes calls through"))]
    #[inline]
    pub(crate) fn pass_through(handle: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        Self::Passthrough { call: Passthrough::new(handle, service, request) }
    }

    /// A call that runs as an operation. If its request is there and `service` takes it, that is sent now.
    #[inline]
    pub(crate) fn begin(
        handle: A,
        service: &mut A::Service,
        mut request: http::Request<Body>,
        method: MethodMatch,
    ) -> Self {
        let MethodMatch { config, kind } = method;
        let (example, counts) = (config.example.as_ref(), config.headers.counts());
        let is_watched = !is_bare_channel::<A::Service>();
        let Inspection { options, resumption, timeout, extra, has_count } =
            Inspection::of(&request, example, counts, is_watched);
        if let Some(status) = config.headers.refusal(request.headers()) {
            return Self::Failed { status: Some(not_sent(status, path_of(request.uri()))) };
        }
        let own_config = config.of_call(options);
        let reports = options
            .and_then(|options| options.report)
            .unwrap_or_else(|| config.shared.options.wants_reports());
        let (has_options, resumption) = (options.is_some(), resumption.cloned());
        // No other layer below may act on them.
        if has_options {
            request.extensions_mut().remove::<CallOptions>();
        }
        if resumption.is_some() {
            request.extensions_mut().remove::<Resumption>();
        }
        if has_count {
            request.headers_mut().remove(PREVIOUS_ATTEMPTS);
        }
        let config = own_config.unwrap_or(config);
        // By gax-java's rules an attempt outlives the total timeout, but not the time that the call is given here.
        let bound = earlier(earlier(timeout, time_left()), config.timeout);
        let captured = match CapturedRequest::of(&mut request, extra, kind, &config) {
            Ok(captured) => captured,
            Err(status) => {
                return Self::Failed { status: Some(not_sent(status, path_of(request.uri()))) };
            }
        };
        let (config, extent) = if captured.is_stream() {
            of_stream(config, kind)
        } else {
            let extent = ReadExtent::of(kind, config.policy.commit_point());
            (config, extent)
        };
        let has_timeouts = config.stream.has_timeouts();
        if (resumption.is_some() || has_timeouts)
            && let Some(resumer) = resumer(resumption.as_ref(), has_timeouts, kind, &captured)
        {
            let config = config.of_stream(resumption.as_ref(), bound);
            let StreamSettings { wait_timeout, idle_timeout, .. } = config.stream;
            let protocol = GrpcProtocol::new(handle, captured, ReadExtent::Nothing);
            let connections = GrpcConnections::new(BytesCodec, resumer);
            let protocol = StreamProtocol::new(protocol, connections, wait_timeout);
            return Self::Resumed { call: resumed(StreamCall::new(protocol, config), idle_timeout) };
        }
        let mut driver = Driver::new(GrpcProtocol::new(handle, captured, extent), config).reporting(reports);
        driver.begin(bound, |protocol, config, started, context| {
            if resumption.is_some() {
                context.note(note::RESUMPTION_UNUSED);
            }
            protocol.first(service, config, started, context, request)
        });
        Self::Operating { driver }
    }
}

/// The strategy of a call whose response is a stream that resumes, or is watched. `None`: the request is not a message that
/// the resumption is for, or it isn't known that the response is a stream, and the call continues without it.
#[cold]
fn resumer(
    resumption: Option<&Resumption>,
    has_timeouts: bool,
    kind: Option<MethodKind>,
    request: &CapturedRequest,
) -> Option<Resumer<Bytes, Bytes>> {
    let is_other = kind.is_some_and(|kind| kind != MethodKind::ServerStreaming);
    let strategy = resumption.and_then(|resumption| {
        let message = request.message().filter(|_| !is_other).and_then(BytesCodec::decoded)?;
        Some(Resumer::new(Some(resumption.over_bytes(&message).ok()?), Some(resumption)))
    });
    let is_watched = has_timeouts && kind == Some(MethodKind::ServerStreaming) && resumption.is_none();
    strategy.or_else(|| is_watched.then(|| Resumer::new(None, None)))
}

/// The response of such a call: a body of the messages of all its connections.
#[cold]
fn resumed<A: ServiceHandle>(
    call: StreamCall<GrpcConnections<A, CapturedRequest, BytesCodec>>,
    idle_timeout: Option<Duration>,
) -> BoxCall {
    Box::pin(async move {
        let mut source = call.await?;
        if let Some(passed) = source.take_passed() {
            return Ok(passed);
        }
        let mut response = http::Response::new(ResponseBody::default());
        *response.headers_mut() = source.head();
        if let Some(timeout) = idle_timeout {
            source = Box::new(IdleTimeout::new(source, timeout));
        }
        let report = StreamReport::default();
        response.extensions_mut().insert(report.clone());
        *response.body_mut() = ResponseBody::resumed(ResumedBody::new(source, report));
        Ok(response)
    })
}

/// The config and the extent of a call whose request is a stream, or shows itself to be one.
#[cold]
fn of_stream(config: Arc<MethodConfig>, kind: Option<MethodKind>) -> (Arc<MethodConfig>, ReadExtent) {
    let extent = ReadExtent::of_request_stream(kind, &config);
    let is_known = kind.is_some_and(MethodKind::streams_requests);
    (if is_known { config } else { Arc::new(config.for_kind(MethodKind::BidiStreaming)) }, extent)
}

impl<A: ServiceHandle> Future for Call<A> {
    type Output = Result<http::Response<ResponseBody>, Status>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Written where it is returned: see `Protocol::Slot`.
        let mut reply = Poll::Pending;
        match self.project() {
            CallProj::Operating { driver } => operate(driver, cx, &mut reply),
            CallProj::Passthrough { call } => reply = call.poll(cx),
            CallProj::Resumed { call } => reply = call.as_mut().poll(cx),
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
    cx: &mut Context<'_>,
    reply: &mut ReplySlot,
) {
    match driver.as_mut().poll(cx, reply) {
        Poll::Pending => {}
        Poll::Ready(Output::Failed(stop)) => *reply = Poll::Ready(failed_call(driver, stop)),
        Poll::Ready(Output::Reply | Output::Item) => {
            if driver.is_watched() {
                report(driver, reply);
            }
        }
    }
}

/// Reports a response to the operation's observers, and in its extensions to the caller.
#[cold]
fn report<A: ServiceHandle>(
    mut driver: Pin<&mut Driver<GrpcProtocol<A, CapturedRequest>>>,
    reply: &mut ReplySlot,
) {
    let Poll::Ready(Ok(response)) = reply else { return };
    let may_stream = driver.as_mut().protocol().may_stream();
    hand_over(driver, response, may_stream);
}
