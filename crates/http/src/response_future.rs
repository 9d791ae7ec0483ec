//! The future of a request through the layer.

use crate::config::HttpConfig;
use crate::failure::{Broken, HttpError};
use crate::http_service::HttpService;
use crate::protocol::{AttemptOutcome, HttpProtocol};
use crate::request::Replay;
use crate::response::HttpResponseBody;
use gax_driver::protocol::{Driver, Output};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

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
    pub(super) fn new(protocol: HttpProtocol<S, B, S::ResponseBody>, config: Arc<HttpConfig>) -> Self {
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
