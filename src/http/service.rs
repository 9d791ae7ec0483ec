//! The service that the layer makes.

use crate::http::failure::HttpError;
use crate::http::protocol::HttpProtocol;
use crate::http::request::{IntoReplay, ReplayableRequest};
use crate::http::response::HttpResponseBody;
use crate::http::response_future::HttpResponseFuture;
use crate::http::shared_state::SharedState;
use crate::transport::{BoxError, SharedService};
use http_body::Body;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// Runs every request as an operation; made by [`HttpRetryLayer`](crate::HttpRetryLayer).
///
/// # Errors
///
/// [`HttpError`], if no response came. A response is not an error, whatever its status.
///
/// # Cancel safety
///
/// Dropping a call's future stops it at once: no attempt, wait or timer outlives it.
#[derive(Clone)]
pub struct HttpRetryService<S> {
    inner: S,
    spare: SharedService<S>,
    shared: Arc<SharedState>,
}

/// Short: what it knows of requests is left out.
impl<S: fmt::Debug> fmt::Debug for HttpRetryService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRetryService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S: Clone> HttpRetryService<S> {
    pub(crate) fn new(inner: S, shared: Arc<SharedState>) -> Self {
        Self { spare: SharedService::of(&inner), inner, shared }
    }

    #[cfg(feature = "reqwest")]
    pub(crate) fn inner(&self) -> &S {
        &self.inner
    }

    /// All that it takes to run an operation of another kind.
    #[cfg(feature = "transfer")]
    pub(crate) fn parts(&self) -> (S, SharedService<S>, Arc<SharedState>) {
        (self.inner.clone(), self.spare.clone(), Arc::clone(&self.shared))
    }

    /// The longest body that is buffered, so that it can be replayed, unless a request says otherwise.
    #[cfg(feature = "reqwest")]
    pub(crate) fn max_replay_bytes(&self) -> usize {
        self.shared.config.load().limits.max_replay_bytes
    }

    /// Sends a request, and retries it; the operation starts when the future is first polled.
    ///
    /// # Errors
    ///
    /// [`HttpError`], if no response came. A response is not an error, whatever its status.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the operation at once: no attempt, wait or timer outlives it.
    ///
    /// # Examples
    ///
    /// ```
    /// use hyper_util::client::legacy::Client;
    /// use hyper_util::client::legacy::connect::HttpConnector;
    /// use hyper_util::rt::TokioExecutor;
    /// use tonic_gax::{Code, HttpRetryLayer, RetrySettings};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let settings = RetrySettings::builder().max_attempts(3).build()?;
    /// let mut connector = HttpConnector::new();
    /// connector.set_nodelay(true); // uploads over HTTP/2 wait for delayed acknowledgements without it
    /// let client = Client::builder(TokioExecutor::new()).build(connector);
    /// let client = HttpRetryLayer::new(&settings, [Code::Unavailable]).layer(client);
    /// let request = http::Request::put("http://localhost:8080/v1/things/7").body(String::from("{}"))?;
    /// println!("{}", client.send(request).await?.status());
    /// # Ok(())
    /// # }
    /// ```
    pub fn send<B, R>(&self, request: http::Request<B>) -> HttpResponseFuture<S, B::Body, R>
    where
        B: IntoReplay,
        S: Service<http::Request<B::Body>, Response = http::Response<R>>,
        S::Error: Into<BoxError>,
        R: Body,
        R::Error: Into<BoxError>,
    {
        let (mut parts, body) = request.into_parts();
        let config = self.shared.config_for(&mut parts);
        let request = ReplayableRequest::new(parts, body.into_replay(), config.limits.max_replay_bytes);
        let (service, spare) = (self.inner.clone(), self.spare.clone());
        let mut protocol = HttpProtocol::new(service, spare, &config, Arc::clone(&self.shared), request);
        let config = protocol.hedged(&config).unwrap_or(config);
        HttpResponseFuture::new(protocol, config)
    }
}

impl<S, B, R> Service<http::Request<B>> for HttpRetryService<S>
where
    S: Service<http::Request<B::Body>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: IntoReplay,
    R: Body,
    R::Error: Into<BoxError>,
{
    type Response = http::Response<HttpResponseBody<R>>;
    type Error = HttpError;
    type Future = HttpResponseFuture<S, B::Body, R>;

    /// Always ready: whether the service below is, belongs to each attempt, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        self.send(request)
    }
}
