//! A server's inbound deadline, passed to the calls that its handlers make.

use crate::grpc::methods::timeout;
use crate::operation::serve_within;
use http::{Request, Response};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::futures::TaskLocalFuture;
use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

/// Makes the deadline of every request that a server takes bound the calls that its handler makes.
///
/// Without it, a handler goes on calling other services after its own caller has given up. Put it around a
/// tonic server; every operation that starts inside the handler's task then has no more time than the
/// request's `grpc-timeout` leaves. Tasks that the handler spawns are not bounded.
///
/// # Examples
///
/// ```no_run
/// # async fn example<S>(service: S) -> Result<(), Box<dyn std::error::Error>> {
/// use tower_layer::Layer;
/// use tonic_gax::DeadlineLayer;
///
/// // With tonic's server feature: Server::builder().layer(DeadlineLayer::new())
/// let bounded = DeadlineLayer::new().layer(service);
/// # drop(bounded);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct DeadlineLayer {
    _private: (),
}

impl DeadlineLayer {
    /// The layer; it has no settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = DeadlineService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        DeadlineService { inner }
    }
}

/// The service of [`DeadlineLayer`].
#[derive(Debug, Clone)]
pub struct DeadlineService<S> {
    inner: S,
}

impl<S, B, R> Service<Request<B>> for DeadlineService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = DeadlineFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let timeout = timeout::from_headers(request.headers());
        DeadlineFuture { inner: serve_within(timeout, self.inner.call(request)) }
    }
}

pin_project! {
    /// The future of [`DeadlineService`].
    #[must_use = "futures do nothing unless polled"]
    pub struct DeadlineFuture<F> {
        #[pin]
        inner: TaskLocalFuture<Option<Instant>, F>,
    }
}

impl<F> std::fmt::Debug for DeadlineFuture<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeadlineFuture").finish_non_exhaustive()
    }
}

impl<F: Future> Future for DeadlineFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().inner.poll(cx)
    }
}
