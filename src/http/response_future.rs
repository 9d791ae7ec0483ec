//! The future of a request through the layer.

use crate::http::config::HttpConfig;
use crate::http::failure::{Broken, HttpError};
use crate::http::protocol::{AttemptOutcome, HttpProtocol};
use crate::http::request::Replay;
use crate::http::response::HttpResponseBody;
use crate::operation::{Detail, Driver, Output};
use crate::transport::BoxError;
use gax_retry::StopReason;
use http_body::Body;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tower_service::Service;

pin_project! {
    /// The future of [`HttpRetryService`](crate::http::HttpRetryService).
    ///
    /// # Cancel safety
    ///
    /// Dropping it stops everything at once: no attempt, wait or timer outlives it.
    #[must_use = "futures do nothing unless polled"]
    pub struct HttpResponseFuture<S, B, R>
    where
        S: Service<http::Request<B>, Response = http::Response<R>>,
        S: Clone,
        S::Error: Into<BoxError>,
        B: Replay,
        R: Body,
        R::Error: Into<BoxError>,
    {
        #[pin]
        driver: Driver<HttpProtocol<S, B, R>>,
    }
}

impl<S, B, R> HttpResponseFuture<S, B, R>
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    pub(super) fn new(protocol: HttpProtocol<S, B, R>, config: Arc<HttpConfig>) -> Self {
        let reports = config.reports;
        Self { driver: Driver::new(protocol, config).reporting(reports) }
    }
}

impl<S, B, R> Future for HttpResponseFuture<S, B, R>
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    type Output = Result<http::Response<HttpResponseBody<R>>, HttpError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut driver = this.driver;
        let mut reply = None;
        let stop = match (ready!(driver.as_mut().poll(cx, &mut reply)), reply) {
            (Output::Failed(stop), _) => stop,
            (_, Some(mut response)) => {
                if let Some(report) = driver.as_mut().close() {
                    let details = driver.protocol().details();
                    response.extensions_mut().insert(report.with_detail(Detail::new(details)));
                }
                return Poll::Ready(Ok(response));
            }
            (_, None) => return Poll::Pending,
        };
        let ended = driver.as_mut().protocol().take_outcome();
        let report = driver.as_mut().failed(stop);
        let report = report.with_detail(Detail::new(driver.as_mut().protocol().details()));
        Poll::Ready(match ended {
            Some(AttemptOutcome::Response(mut response)) => {
                response.extensions_mut().insert(report);
                Ok(*response)
            }
            Some(AttemptOutcome::Broken(broken)) => Err(HttpError::new(report, broken, Some(stop))),
            None if stop.reason() == StopReason::Cancelled => {
                Err(HttpError::new(report, Broken::RequestEnded, Some(stop)))
            }
            None => {
                let problem = driver.config().policy.problem().cloned();
                Err(HttpError::new(report, problem.map_or(Broken::NoTime, Broken::Invalid), Some(stop)))
            }
        })
    }
}

impl<S, B, R> fmt::Debug for HttpResponseFuture<S, B, R>
where
    S: Service<http::Request<B>, Response = http::Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Replay,
    R: Body,
    R::Error: Into<BoxError>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponseFuture").finish_non_exhaustive()
    }
}
