//! The service that the layer makes.

use super::response_future::HttpResponseFuture;
use super::shared_state::SharedState;
use crate::http::BoxError;
use crate::http::failure::HttpError;
use crate::http::protocol::HttpProtocol;
use crate::http::request::{Replay, ReplayableRequest};
use crate::http::response::HttpResponseBody;
use crate::transport::SharedService;
use http_body::Body;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// Runs every request as an operation; made by [`HttpRetryLayer`](crate::HttpRetryLayer).
///
/// # Errors
///
/// [`HttpError`], where no response came. A response is no error, whatever its status.
///
/// # Cancel safety
///
/// To drop a call's future stops it at once: no attempt, wait or timer outlives it.
#[derive(Debug, Clone)]
pub struct HttpRetryService<S> {
    inner: S,
    spare: SharedService<S>,
    shared: Arc<SharedState>,
}

impl<S: Clone> HttpRetryService<S> {
    pub(crate) fn new(inner: S, shared: Arc<SharedState>) -> Self {
        Self { spare: SharedService::of(&inner), inner, shared }
    }
}

impl<S, B, R> Service<http::Request<B>> for HttpRetryService<S>
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    type Response = http::Response<HttpResponseBody<R>>;
    type Error = HttpError;
    type Future = HttpResponseFuture<S, B, R>;

    /// Always ready: whether the service below is, belongs to each attempt, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let plan = self.shared.plan_for(&mut parts.extensions);
        let request = ReplayableRequest::new(parts, body, self.shared.limits.max_replay_bytes);
        let (service, spare) = (self.inner.clone(), self.spare.clone());
        let protocol = HttpProtocol::new(service, spare, &plan, Arc::clone(&self.shared), request);
        HttpResponseFuture::new(protocol, plan)
    }
}
