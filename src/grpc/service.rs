//! The service that the layer makes.
#![warn(missing_docs, missing_debug_implementations, clippy::missing_errors_doc, clippy::must_use_candidate)]

use crate::grpc::call::Call;
use crate::grpc::methods::{MethodMatch, Methods};
use crate::grpc::response::ResponseBody;
use crate::grpc::response_future::ResponseFuture;
use crate::grpc::transport::{GrpcTransport, LazyService, SharedParts};
use gax_driver::__private::Replaceable;
use gax_driver::CallOptions;
use gax_wire::__private::SharedService;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// Runs every call as an operation; made by [`RetryLayer`](crate::RetryLayer).
///
/// An operation starts when the service is called, and continues when its future is polled.
///
/// # Cancel safety
///
/// Dropping a call's future stops it immediately: no attempt, wait or timer outlives it. The server sees the stream
/// reset.
#[derive(Clone)]
pub struct RetryService<S> {
    inner: S,
    shared: Arc<SharedParts<S>>,
}

/// Short: what it knows of methods is left out.
impl<S: fmt::Debug> fmt::Debug for RetryService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S: Clone> RetryService<S> {
    pub(crate) fn new(inner: S, methods: Replaceable<Methods>) -> Self {
        let spare = SharedService::of(&inner);
        Self { inner, shared: Arc::new(SharedParts { spare, methods }) }
    }
}

impl<S: GrpcTransport> Service<http::Request<Body>> for RetryService<S> {
    type Response = http::Response<ResponseBody>;
    type Error = Status;
    type Future = ResponseFuture<S>;

    /// Always ready: whether the service below is, belongs to each attempt, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    // Made where it is going to stay, not in its caller (bench `speed`, instructions).
    #[inline(never)]
    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let handle = LazyService::new(Arc::clone(&self.shared));
        let method = find(&self.shared.methods.load(), &request);
        let call = match method {
            Some(method) => Call::begin(handle, &mut self.inner, request, method),
            None => Call::pass_through(handle, &mut self.inner, request),
        };
        ResponseFuture { call }
    }
}

/// The method of a request; `None` if neither the table nor the call's own options say anything about it. The methods are
/// released before the call is made: to hold them would copy it once more (bench `speed` with `--features observing`,
/// instructions).
#[inline]
fn find<B>(methods: &Methods, request: &http::Request<B>) -> Option<MethodMatch> {
    let path = request.uri().path();
    match methods.find(path) {
        None if changes_settings(request) => Some(methods.unlisted(path)),
        found => found,
    }
}

fn changes_settings<B>(request: &http::Request<B>) -> bool {
    request.extensions().get().is_some_and(CallOptions::changes_settings)
}
