//! The layer, its service, and the future of a request.

use crate::grpc::deadline::body::DeadlineBody;
use crate::grpc::template::previous_attempts;
use crate::grpc::template::timeout;
use gax_driver::__private::Serving;
use gax_driver::inbound::Inbound;
use http::{Request, Response};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::futures::TaskLocalFuture;
use tower_layer::Layer;
use tower_service::Service;

/// Limits the calls of a server's handlers by the deadline of the request that they serve.
///
/// Without it, a handler continues calling other services after its own caller has given up. Put it around a
/// tonic server, or any other service of HTTP requests; every operation that starts inside the handler's task, over gRPC or
/// HTTP or of a closure, then has no more time than the request's `grpc-timeout` leaves. For tasks and threads that
/// the handler starts there is a handle, [`Inbound`](gax_driver::inbound::Inbound).
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
    type Response = Response<DeadlineBody<R>>;
    type Error = S::Error;
    type Future = DeadlineFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let headers = request.headers();
        let serving = Serving::begin(timeout::from_headers(headers), previous_attempts(headers));
        let handler = serving.inbound().enter(|| self.inner.call(request));
        DeadlineFuture { handler: serving.serve(handler), serving: Some(serving) }
    }
}

pin_project! {
    /// The future of [`DeadlineService`].
    #[must_use = "futures do nothing unless polled"]
    pub struct DeadlineFuture<F> {
        // It is dropped first: what is done for the request stops before what waits for it.
        serving: Option<Serving>,
        #[pin]
        handler: TaskLocalFuture<Inbound, F>,
    }
}

impl<F> std::fmt::Debug for DeadlineFuture<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeadlineFuture").finish_non_exhaustive()
    }
}

impl<F, R, E> Future for DeadlineFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<DeadlineBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.handler.poll(cx));
        let Some(serving) = this.serving.take() else {
            return Poll::Pending;
        };
        Poll::Ready(result.map(|response| response.map(|body| DeadlineBody::new(serving, body))))
    }
}
