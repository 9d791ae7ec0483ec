//! The service that the layer makes, and the future of a request through it.

use crate::config::HttpConfig;
use crate::failure::{Broken, HttpError};
use crate::http_service::HttpService;
use crate::protocol::{AttemptOutcome, HttpProtocol};
use crate::request::{IntoReplay, Replay, ReplayableRequest};
use crate::response::HttpResponseBody;
use crate::shared_state::{LayeredClient, SharedState};
use gax_driver::protocol::{Driver, Output};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tower_service::Service;

/// Runs every request as an operation; made by [`HttpRetryLayer`](crate::HttpRetryLayer).
///
/// # Errors
///
/// [`HttpError`], if no response came. A response is not an error, regardless of its status.
///
/// # Cancel safety
///
/// Dropping a call's future stops it immediately: no attempt, wait or timer outlives it.
#[derive(Clone)]
pub struct HttpRetryService<S>(LayeredClient<S>);

// Short: what it knows of requests is left out.
gax_text::short_debug! { self: [S: fmt::Debug] HttpRetryService<S> { inner: self.0.service } }

impl<S: Clone> HttpRetryService<S> {
    pub(crate) fn new(inner: S, shared: Arc<SharedState>) -> Self {
        Self(LayeredClient::new(inner, shared))
    }

    #[cfg(feature = "reqwest")]
    pub(crate) fn inner(&self) -> &S {
        &self.0.service
    }

    /// The longest body that is buffered, so that it can be replayed, unless a request says otherwise.
    #[cfg(feature = "reqwest")]
    pub(crate) fn max_replay_bytes(&self) -> usize {
        self.0.shared.config.load().limits.max_replay_bytes
    }

    /// Sends a request, and retries it; the operation starts when the future is first polled.
    ///
    /// # Errors
    ///
    /// [`HttpError`], if no response came. A response is not an error, regardless of its status.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the operation immediately: no attempt, wait or timer outlives it.
    ///
    /// # Examples
    ///
    /// ```
    /// use hyper_util::client::legacy::Client;
    /// use hyper_util::client::legacy::connect::HttpConnector;
    /// use hyper_util::rt::TokioExecutor;
    /// use gax_http::HttpRetryLayer;
    /// use gax_http::{Code, RetrySettings};
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
    pub fn send<B>(&self, request: http::Request<B>) -> HttpResponseFuture<S, B::Body>
    where
        B: IntoReplay,
        S: HttpService<B::Body>,
    {
        let (mut parts, body) = request.into_parts();
        let config = self.0.shared.config_for(&mut parts);
        let request = ReplayableRequest::new(parts, body.into_replay(), config.limits.max_replay_bytes);
        let mut protocol = HttpProtocol::new(self.0.clone(), &config, request);
        let config = protocol.hedged(&config).unwrap_or(config);
        HttpResponseFuture::new(protocol, config)
    }
}

/// All that it takes to run an operation of another kind over that service.
pub fn layered_client<S>(service: &HttpRetryService<S>) -> &LayeredClient<S> {
    &service.0
}

impl<S: HttpService<B::Body>, B: IntoReplay> Service<http::Request<B>> for HttpRetryService<S> {
    type Response = http::Response<HttpResponseBody<S::ResponseBody>>;
    type Error = HttpError;
    type Future = HttpResponseFuture<S, B::Body>;

    /// Always ready: whether the service below is, belongs to each attempt, under its clock.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        self.send(request)
    }
}

pin_project! {
    /// The future of [`HttpRetryService`](crate::HttpRetryService).
    ///
    /// # Cancel safety
    ///
    /// Dropping it stops everything at once: no attempt, wait or timer outlives it.
    #[must_use = "futures do nothing unless polled"]
    pub struct HttpResponseFuture<S, B>
    where
        S: HttpService<B>,
        B: Replay,
    {
        #[pin]
        driver: Driver<HttpProtocol<S, B, S::ResponseBody>>,
    }
}

impl<S: HttpService<B>, B: Replay> HttpResponseFuture<S, B> {
    fn new(protocol: HttpProtocol<S, B, S::ResponseBody>, config: Arc<HttpConfig>) -> Self {
        let reports = config.reports;
        Self { driver: Driver::new(protocol, config).reporting(reports) }
    }
}

impl<S: HttpService<B>, B: Replay> Future for HttpResponseFuture<S, B> {
    type Output = Result<http::Response<HttpResponseBody<S::ResponseBody>>, HttpError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut driver = this.driver;
        let mut reply = None;
        let stop = match (ready!(driver.as_mut().poll(cx, &mut reply)), reply) {
            (Output::Failed(stop), _) => stop,
            (_, Some(mut response)) => {
                if let Some(report) = driver.as_mut().close() {
                    let details = driver.protocol().details();
                    response.extensions_mut().insert(report.with_detail(details));
                }
                return Poll::Ready(Ok(response));
            }
            (_, None) => return Poll::Pending,
        };
        let ended = driver.as_mut().protocol().take_outcome();
        let report = driver.as_mut().failed(stop);
        let report = report.with_detail(driver.as_mut().protocol().details());
        Poll::Ready(match ended {
            Some(AttemptOutcome::Response(mut response)) => {
                response.extensions_mut().insert(report);
                Ok(*response)
            }
            Some(AttemptOutcome::Broken(broken)) => Err(HttpError::new(report, broken, Some(stop))),
            None => {
                let broken = Broken::without_attempt(&driver.config().policy, stop);
                Err(HttpError::new(report, broken, Some(stop)))
            }
        })
    }
}

gax_text::short_debug! { self: [S: HttpService<B>, B: Replay] HttpResponseFuture<S, B> {} }
