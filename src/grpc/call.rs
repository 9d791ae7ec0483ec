//! One call of any kind, with the request that tonic's own client wrote.

use crate::grpc::methods::{MethodConfig, MethodMatch};
use crate::grpc::protocol::{GrpcProtocol, failed_call};
use crate::grpc::request::CapturedRequest;
use crate::grpc::response::{ReadExtent, ReplySlot, ResponseBody, hand_over};
use crate::grpc::status::not_sent;
use crate::grpc::take_over::{BoxCall, BoxService, CallView, Taken, TakenBy, TakenCall};
use crate::grpc::template::{Inspection, PREVIOUS_ATTEMPTS, path_of};
use crate::grpc::transport::{Passthrough, ServiceHandle, is_bare_channel};
use crate::note;
use gax_driver::__private::{earlier, time_left};
use gax_driver::CallOptions;
use gax_driver::protocol::{Driver, Output};
use gax_retry::MethodKind;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;

pin_project! {
    /// An operation, or a call of a method that no table knows.
    #[project = CallProj]
    pub enum Call<A: ServiceHandle> {
        // Its request could not be read.
        Failed { status: Option<Status> },
        Operating { #[pin] driver: Driver<GrpcProtocol<A, CapturedRequest>> },
        Passthrough { #[pin] call: Passthrough<A> },
        // Something above runs it.
        Taken { call: BoxCall },
    }
}

impl<A: ServiceHandle> Call<A> {
    /// A call of a method that no table knows.
    #[inline]
    pub fn pass_through(handle: A, service: &mut A::Service, request: http::Request<Body>) -> Self {
        Self::Passthrough { call: Passthrough::new(handle, service, request) }
    }

    /// A call that runs as an operation. If its request is there and `service` takes it, that is sent now.
    #[inline]
    pub fn begin(
        handle: A,
        service: &mut A::Service,
        mut request: http::Request<Body>,
        method: MethodMatch,
    ) -> Self {
        let MethodMatch { config, kind } = method;
        let (example, counts) = (config.example.as_ref(), config.headers.counts());
        let is_watched = !is_bare_channel::<A::Service>();
        let Inspection { options, taken_by, timeout, extra, has_count } =
            Inspection::of(&request, example, counts, is_watched);
        if let Some(status) = config.headers.refusal(request.headers()) {
            return Self::unsendable(status, &request);
        }
        let own_config = config.of_call(options);
        let reports = options
            .and_then(|options| options.report)
            .unwrap_or_else(|| config.shared.options.wants_reports());
        let (has_options, taken_by) = (options.is_some(), taken_by.cloned());
        if has_options || taken_by.is_some() || has_count {
            remove_own(&mut request, has_count);
        }
        let config = own_config.unwrap_or(config);
        // By gax-java's rules an attempt outlives the total timeout, but not the time that the call is given here.
        let bound = earlier(earlier(timeout, time_left()), config.timeout);
        let captured = match CapturedRequest::of(&mut request, extra, kind, &config) {
            Ok(captured) => captured,
            Err(status) => return Self::unsendable(status, &request),
        };
        let (config, extent) = if captured.is_stream() {
            of_stream(config, kind)
        } else {
            let extent = ReadExtent::of(kind, config.policy.commit_point());
            (config, extent)
        };
        let is_brought = taken_by.is_some();
        if is_brought || !config.stream.is_empty() {
            match taken(taken_by, kind, &captured, &config, request.uri().path()) {
                Ok(Some(run)) => {
                    let service = BoxService::new(service.clone());
                    return Self::Taken {
                        call: run(TakenCall { service, config, request: captured, bound }),
                    };
                }
                Ok(None) => {}
                Err(status) => return Self::unsendable(status, &request),
            }
        }
        let protocol = GrpcProtocol::new(handle, captured, extent);
        let driver = Driver::begun(protocol, config, reports, bound, |protocol, config, started, context| {
            if is_brought {
                context.note(note::RESUMPTION_UNUSED);
            }
            protocol.first(service, config, started, context, request)
        });
        Self::Operating { driver }
    }

    /// A call whose request can't be sent.
    #[cold]
    fn unsendable(status: Status, request: &http::Request<Body>) -> Self {
        Self::Failed { status: Some(not_sent(status, path_of(request.uri()))) }
    }
}

/// Removes what is meant for this layer: no other one below may act on it.
#[cold]
fn remove_own(request: &mut http::Request<Body>, has_count: bool) {
    request.extensions_mut().remove::<CallOptions>();
    request.extensions_mut().remove::<TakenBy>();
    if has_count {
        request.headers_mut().remove(PREVIOUS_ATTEMPTS);
    }
}

/// Who runs the call instead: who came with the request, or who keeps the timeouts of streams that the method's settings have. Without
/// the latter the call fails, since they would be ignored.
#[cold]
fn taken(
    taken_by: Option<TakenBy>,
    kind: Option<MethodKind>,
    request: &CapturedRequest,
    config: &MethodConfig,
    path: &str,
) -> Result<Option<Taken>, Status> {
    const NOBODY: &str = "the method's settings have a wait or an idle timeout of streams, which only gax-streams applies: add \
                          .streams(gax_streams::Streams) to the layer, or remove the timeout";
    let view = CallView { path, kind, message: request.message(), timeouts: config.stream };
    match taken_by.map(|TakenBy(own)| own).or_else(|| config.shared.streams.clone()) {
        Some(take_over) => take_over.take(&view),
        None if kind == Some(MethodKind::ServerStreaming) => Err(Status::invalid_argument(NOBODY)),
        None => Ok(None),
    }
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
            CallProj::Taken { call } => reply = call.as_mut().poll(cx),
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
