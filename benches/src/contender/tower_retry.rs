//! `tower::retry`, as somebody who knows it well would set it up: the request is buffered, every attempt has
//! a timeout, and the response is collected, since the status of a gRPC call comes last.

use super::traits::{Contender, Outcome, Wire};
use crate::asset::ListAssetsRequest;
use crate::asset::asset_service_client::AssetServiceClient;
use crate::pace::{ATTEMPT_TIMEOUT, Pace};
use bytes::Bytes;
use http::HeaderValue;
use http_body_util::{BodyExt as _, Collected, Full};
use std::future::{Future, ready};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::sleep;
use tonic::body::Body;
use tonic::codegen::StdError;
use tower::retry::{Policy, Retry};
use tower::timeout::Timeout;
use tower::util::ServiceExt as _;
use tower_service::Service;

/// tonic's own client over `tower::retry`.
#[derive(Debug, Clone)]
pub struct TowerRetry<S>(AssetServiceClient<Buffered<S>>);

impl<S: Wire> TowerRetry<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        Self(AssetServiceClient::new(Buffered { inner: service, pace }))
    }
}

impl<S: Wire> Contender for TowerRetry<S> {
    const NAME: &'static str = "tower::retry, a hand-tuned policy";

    async fn call(&mut self, message: ListAssetsRequest) -> Outcome {
        self.0.list_assets(message).await
    }
}

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Reads the request's body and gives it to the retries below.
#[derive(Debug, Clone)]
struct Buffered<S> {
    inner: S,
    pace: Pace,
}

impl<S: Wire> Service<http::Request<Body>> for Buffered<S> {
    type Response = http::Response<Collected<Bytes>>;
    type Error = StdError;
    type Future = BoxFuture<Result<Self::Response, StdError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let attempt = Timeout::new(Attempt { inner: self.inner.clone() }, ATTEMPT_TIMEOUT);
        let policy = Unavailable { left: self.pace.attempts.saturating_sub(1), pace: self.pace };
        let retry = Retry::new(policy, attempt);
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            parts.headers.insert("grpc-timeout", HeaderValue::from_static("30S"));
            retry.oneshot(http::Request::from_parts(parts, body)).await
        })
    }
}

/// One attempt: sends the bytes and collects the reply.
#[derive(Debug, Clone)]
struct Attempt<S> {
    inner: S,
}

impl<S: Wire> Service<http::Request<Bytes>> for Attempt<S> {
    type Response = http::Response<Collected<Bytes>>;
    type Error = StdError;
    type Future = BoxFuture<Result<Self::Response, StdError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<Bytes>) -> Self::Future {
        let call = self.inner.call(request.map(|bytes| Body::new(Full::new(bytes))));
        Box::pin(async move {
            let (parts, body) = call.await.map_err(Into::into)?.into_parts();
            let collected = Body::new(body).collect().await?;
            Ok(http::Response::from_parts(parts, collected))
        })
    }
}

/// Retries UNAVAILABLE and timeouts.
#[derive(Debug, Clone)]
struct Unavailable {
    left: u32,
    pace: Pace,
}

type Reply = http::Response<Collected<Bytes>>;

impl Policy<http::Request<Bytes>, Reply, StdError> for Unavailable {
    type Future = BoxFuture<()>;

    fn retry(
        &mut self,
        _: &mut http::Request<Bytes>,
        result: &mut Result<Reply, StdError>,
    ) -> Option<Self::Future> {
        let is_retryable = match result {
            Ok(reply) => {
                let status = |headers: &http::HeaderMap| headers.get("grpc-status").cloned();
                let status = status(reply.headers()).or_else(|| reply.body().trailers().and_then(status));
                status.is_some_and(|status| matches!(status.as_bytes(), b"14" | b"4"))
            }
            Err(error) => error.is::<tower::timeout::error::Elapsed>(),
        };
        if !is_retryable || self.left == 0 {
            return None;
        }
        self.left -= 1;
        // Somebody who tunes by hand knows that tokio's timer takes a millisecond for a delay of zero.
        if self.pace.delay.is_zero() {
            Some(Box::pin(ready(())))
        } else {
            Some(Box::pin(sleep(self.pace.delay)))
        }
    }

    fn clone_request(&mut self, request: &http::Request<Bytes>) -> Option<http::Request<Bytes>> {
        Some(request.clone())
    }
}
