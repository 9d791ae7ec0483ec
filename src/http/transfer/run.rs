//! A transfer as one operation of the one driver.

use crate::http::config::HttpConfig;
use crate::http::transfer::error::{Failure, TransferErrorKind};
use crate::http::transfer::exchange::{Boxed, Exchange};
use crate::http::transfer::progress::TransferReport;
use crate::http::transfer::protocol::TransferProtocol;
use crate::http::transfer::service::TransferService;
use crate::operation::{Detail, Driver, OperationReport};
use bytes::Bytes;
use gax_retry::StopReason;
use gax_retry::operation::Stop;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The end of a transfer's operation.
pub(super) struct Ended {
    pub(super) result: Result<http::Response<Bytes>, Failure>,
    pub(super) report: OperationReport,
    pub(super) transfer: TransferReport,
}

/// Runs the operation to its end.
pub(super) fn run<'a, S, X>(protocol: TransferProtocol<'a, S, X>, config: Arc<HttpConfig>) -> Boxed<'a, Ended>
where
    S: TransferService,
    X: Exchange<'a> + 'a,
{
    Box::pin(Running { driver: Box::pin(Driver::new(protocol, config)), reply: None })
}

/// An operation on its way.
struct Running<'a, S: TransferService, X: Exchange<'a>> {
    driver: Pin<Box<Driver<TransferProtocol<'a, S, X>>>>,
    reply: Option<http::Response<Bytes>>,
}

impl<'a, S: TransferService, X: Exchange<'a>> Future for Running<'a, S, X> {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let Self { driver, reply } = self.get_mut();
        let (stop, report) = ready!(driver.as_mut().poll_end(cx, reply));
        let config = Arc::clone(driver.config());
        let protocol = driver.as_mut().protocol();
        let transfer = protocol.exchange.summary();
        let failure = protocol.failure.take();
        let result = reply.take().ok_or_else(|| failure.unwrap_or_else(|| without_attempt(&config, stop)));
        Poll::Ready(Ended { result, report: report.with_detail(Detail::new(transfer)), transfer })
    }
}

/// The failure of an operation that has made no attempt, or was ended from outside.
fn without_attempt(config: &HttpConfig, stop: Option<Stop>) -> Failure {
    if let Some(problem) = config.policy.problem() {
        return Failure::new(TransferErrorKind::Invalid, "the settings can't be used")
            .with_source(problem.clone());
    }
    match stop.map(Stop::reason) {
        Some(StopReason::Cancelled) => Failure::new(
            TransferErrorKind::Cancelled,
            "the request has ended that this transfer was made for",
        ),
        _ => Failure::new(TransferErrorKind::TimedOut, "there was no time for an attempt"),
    }
}
