//! The service that the layer makes.

use super::response_future::ResponseFuture;
use crate::grpc::methods::{Found, Methods};
use crate::grpc::request::Known;
use crate::grpc::response::ResponseBody;
use crate::grpc::transport::{LazyService, SharedParts, Transport, is_bare_channel};
use crate::live::Replaceable;
use crate::settings::CallOptions;
use crate::transport::SharedService;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

/// Runs every call as an operation; made by [`RetryLayer`](crate::RetryLayer).
///
/// An operation starts when the service is called, and goes on when its future is polled.
///
/// # Cancel safety
///
/// Dropping a call's future stops it at once: no attempt, wait or timer outlives it. The server sees the stream
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

impl<S: Transport> Service<http::Request<Body>> for RetryService<S> {
    type Response = http::Response<ResponseBody>;
    type Error = Status;
    type Future = ResponseFuture<S>;

    /// Always ready: whether the service below is, belongs to each attempt, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    // Made where it is going to stay, not in its caller (bench `speed`, instructions).
    #[inline(never)]
    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let handle = LazyService::new(Arc::clone(&self.shared));
        let (found, is_usual_uri) = found(&self.shared.methods.load(), &request);
        let mut future = ResponseFuture::unstarted();
        match found {
            None => future.call.pass_through(handle, &mut self.inner, request),
            Some(found) => {
                let known = Known { is_usual_uri, is_watched: !is_bare_channel::<S>() };
                let inner = &mut self.inner;
                if future.call.start(handle, inner, &mut request, found, known) {
                    future.call.sent(inner.call(request));
                }
            }
        }
        future
    }
}

/// What is known of a request's method, and whether the request is known to go where others to it go. The methods are let go
/// of before the call is made: to hold them would copy it once more (bench `speed` with `--features observing`,
/// instructions).
#[inline]
fn found<B>(methods: &Methods, request: &http::Request<B>) -> (Option<Found>, bool) {
    match methods.find_called(request.uri()) {
        None => (find(methods, request), false),
        found => (found, true),
    }
}

/// The same by the method's name, or by what the call's own options make of it.
#[cold]
fn find<B>(methods: &Methods, request: &http::Request<B>) -> Option<Found> {
    match methods.find(request.uri()) {
        None if changes_settings(request) => Some(methods.unlisted(request.uri().path())),
        found => found,
    }
}

fn changes_settings<B>(request: &http::Request<B>) -> bool {
    request.extensions().get().is_some_and(CallOptions::changes_settings)
}
