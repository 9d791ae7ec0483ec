//! The service that the layer makes.

use super::plan::HttpPlan;
use super::response_future::HttpResponseFuture;
use crate::http::BoxError;
use crate::http::failure::{Connections, HttpError};
use crate::http::protocol::HttpProtocol;
use crate::http::request::{Replay, ReplayableRequest};
use crate::http::response::HttpResponseBody;
use crate::operation::JitterSeeds;
use crate::settings::CallOptions;
use crate::transport::SharedService;
use gax_retry::{IdempotencyStrategy, Preset};
use http::Extensions;
use http_body::Body;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// Runs every request as an operation; made by [`HttpRetryLayer`](crate::HttpRetryLayer).
///
/// # Errors
///
/// [`HttpError`], where no response came. A response of any status is a response.
///
/// # Cancel safety
///
/// To drop a call's future stops it at once: no attempt, wait or timer outlives it.
#[derive(Debug, Clone)]
pub struct HttpRetryService<S> {
    inner: S,
    spare: SharedService<S>,
    config: Arc<Config>,
}

/// What all calls through a layer share.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) policy: Arc<HttpPlan>,
    pub(crate) limits: Limits,
    pub(crate) jitter: JitterSeeds,
    pub(crate) connections: Connections,
}

/// What is kept and heeded of a call, whatever its policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) max_replay_bytes: usize,
    pub(crate) max_response_buffer: usize,
    pub(crate) body_idle_timeout: Option<Duration>,
}

impl<S: Clone> HttpRetryService<S> {
    pub(crate) fn new(inner: S, config: Arc<Config>) -> Self {
        Self { spare: SharedService::of(&inner), inner, config }
    }
}

impl Config {
    /// The policy of one call: the layer's, unless the call brings something along.
    fn plan_for(&self, extensions: &mut Extensions) -> Arc<HttpPlan> {
        if extensions.is_empty() {
            return Arc::clone(&self.policy);
        }
        let preset = extensions.remove::<Preset>();
        let options = extensions.remove::<CallOptions>();
        let strategy = extensions.remove::<IdempotencyStrategy>();
        if preset.is_none() && options.is_none() && strategy.is_none() {
            return Arc::clone(&self.policy);
        }
        let mut policy = preset.map_or_else(|| (*self.policy).clone(), |preset| HttpPlan::of_preset(&preset));
        if let Some(options) = options {
            policy.apply(&options);
        }
        if let Some(strategy) = strategy {
            policy.strategy = strategy;
        }
        Arc::new(policy)
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
        let plan = self.config.plan_for(&mut parts.extensions);
        let request = ReplayableRequest::new(parts, body, self.config.limits.max_replay_bytes);
        let (service, spare) = (self.inner.clone(), self.spare.clone());
        let protocol = HttpProtocol::new(service, spare, &plan, Arc::clone(&self.config), request);
        HttpResponseFuture::new(protocol, plan)
    }
}
