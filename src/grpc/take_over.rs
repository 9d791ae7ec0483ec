//! Calls that something above the layer runs, such as streams that resume.

use crate::grpc::ResponseBody;
use crate::grpc::methods::MethodConfig;
use crate::grpc::request::CapturedRequest;
use crate::grpc::transport::GrpcTransport;
use bytes::Bytes;
use gax_retry::MethodKind;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::StdError;
use tower_service::Service;

/// The response of a call that was taken over.
pub type BoxCall = Pin<Box<dyn Future<Output = Result<http::Response<ResponseBody>, Status>> + Send>>;

/// Runs a call that was taken over.
pub type Taken = Box<dyn FnOnce(TakenCall) -> BoxCall + Send>;

/// Runs calls instead of the layer: `gax-streams` has those that resume streams and keep their timeouts. It is in the extensions of a
/// request ([`RequestExt::with_take_over`](crate::RequestExt::with_take_over)), or the layer has it for methods whose settings have
/// timeouts of streams ([`RetryLayer::streams`](crate::RetryLayer::streams)).
pub trait TakeOver: Any + Send + Sync {
    /// Returns how it runs this call. It is asked before anything is sent. `None`: the layer runs it. If the request has brought it, the report
    /// notes that then.
    ///
    /// # Errors
    ///
    /// The call can't be made, and ends with this status.
    fn take(&self, call: &CallView<'_>) -> Result<Option<Taken>, Status>;
}

/// The timeouts of streams of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StreamTimeouts {
    /// The longest that the caller waits for a message.
    pub wait: Option<Duration>,
    /// The longest that the caller may leave the stream alone.
    pub idle: Option<Duration>,
}

impl StreamTimeouts {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.wait.is_none() && self.idle.is_none()
    }
}

/// A call before anything of it is sent.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallView<'a> {
    /// The path of its request.
    pub path: &'a str,
    /// Which sides stream; `None`: it isn't known.
    pub kind: Option<MethodKind>,
    /// The one message of its request, with its prefix; `None`: the request is something else.
    pub message: Option<&'a Bytes>,
    /// The timeouts of streams that its settings have.
    pub timeouts: StreamTimeouts,
}

/// A call that was taken over: what the crates of this repository run it with.
#[expect(
    missing_debug_implementations,
    clippy::exhaustive_structs,
    reason = "for the crates of this repository alone"
)]
pub struct TakenCall {
    #[doc(hidden)]
    pub service: BoxService,
    #[doc(hidden)]
    pub config: Arc<MethodConfig>,
    #[doc(hidden)]
    pub request: CapturedRequest,
    /// The time that the call has for all its attempts.
    pub bound: Option<Duration>,
}

/// Who takes over the request that this is an extension of.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "our own crates take it apart")]
pub struct TakenBy(pub Arc<dyn TakeOver>);

impl fmt::Debug for TakenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TakenBy")
    }
}

type BoxResponse = Pin<Box<dyn Future<Output = Result<http::Response<Body>, StdError>> + Send>>;

/// Any service behind a pointer, so that what runs taken calls compiles once.
#[doc(hidden)]
pub struct BoxService(Box<dyn Erased>);

impl BoxService {
    pub fn new<S: GrpcTransport>(service: S) -> Self {
        Self(Box::new(service))
    }
}

trait Erased: Send {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>>;
    fn call(&mut self, request: http::Request<Body>) -> BoxResponse;
    fn clone_box(&self) -> Box<dyn Erased>;
}

impl<S: GrpcTransport> Erased for S {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        tonic::client::GrpcService::poll_ready(self, cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<Body>) -> BoxResponse {
        let call = tonic::client::GrpcService::call(self, request);
        Box::pin(async move { call.await.map(|response| response.map(Body::new)).map_err(Into::into) })
    }

    fn clone_box(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }
}

impl Clone for BoxService {
    fn clone(&self) -> Self {
        Self(self.0.clone_box())
    }
}

impl fmt::Debug for BoxService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxService")
    }
}

impl Service<http::Request<Body>> for BoxService {
    type Response = http::Response<Body>;
    type Error = StdError;
    type Future = BoxResponse;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> BoxResponse {
        self.0.call(request)
    }
}
