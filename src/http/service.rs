//! The service that the layer makes.

use super::BoxError;
use super::body::HttpResponseBody;
use super::connections::Connections;
use super::error::HttpError;
use super::outgoing::Outgoing;
use super::plan::HttpPlan;
use super::protocol::HttpProtocol;
use super::replay::Replay;
use super::response_future::HttpResponseFuture;
use crate::operation::{JitterSeeds, Spare};
use crate::settings::CallOptions;
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
/// [`HttpError`], where no answer came. An answer of any status is a response.
///
/// # Cancel safety
///
/// To drop a call's future stops it at once: no attempt, wait or timer outlives it.
#[derive(Debug, Clone)]
pub struct HttpRetryService<S> {
    inner: S,
    spare: Spare<S>,
    config: Arc<Config>,
}

/// What all calls through a layer share.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) policy: Arc<HttpPlan>,
    pub(super) limits: Limits,
    pub(super) jitter: JitterSeeds,
    pub(super) connections: Connections,
}

/// What is kept and heeded of a call, whatever its policy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_replay_bytes: usize,
    pub(super) max_response_buffer: usize,
    pub(super) body_idle_timeout: Option<Duration>,
    /// Whether `Retry-After` is heeded.
    pub(super) retry_after: bool,
}

impl<S: Clone> HttpRetryService<S> {
    pub(super) fn new(inner: S, config: Arc<Config>) -> Self {
        Self { spare: Spare::of(&inner), inner, config }
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
        let outgoing = Outgoing::new(parts, body, self.config.limits.max_replay_bytes);
        let (service, spare) = (self.inner.clone(), self.spare.clone());
        let protocol = HttpProtocol::new(service, spare, &plan, Arc::clone(&self.config), outgoing);
        HttpResponseFuture::new(protocol, plan)
    }
}
