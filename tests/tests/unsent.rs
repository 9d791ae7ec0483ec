//! Requests that were lost before they left: sent again at once, a bounded number of times.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, RetrySettings, StopReason};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::codegen::StdError;
use tonic::transport::Channel;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{
    Answer, Script, Setup, Stack, VirtualServer, error_report, ms, report_of, reported, row, rows,
};
use tower_service::Service;

fn settings() -> RetrySettings {
    RetrySettings::builder()
        .jittered(false)
        .initial_retry_delay(ms(200))
        .initial_rpc_timeout(ms(1000))
        .total_timeout(ms(10_000))
        .build()
        .unwrap()
}

/// A channel that hands its first requests to a connection that is gone, which takes a while to show.
#[derive(Debug, Clone)]
struct Stale {
    channel: Channel,
    left: Arc<AtomicU32>,
    after: Duration,
}

impl Stale {
    fn new(times: u32, server: &VirtualServer) -> Self {
        Self { channel: server.channel(), left: Arc::new(AtomicU32::new(times)), after: Duration::ZERO }
    }

    fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

impl Service<http::Request<Body>> for Stale {
    type Response = http::Response<Body>;
    type Error = StdError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, StdError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.channel.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let take = |left: u32| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            let after = self.after;
            return Box::pin(async move {
                if !after.is_zero() {
                    tokio::time::sleep(after).await;
                }
                Err(lost(request).await.into())
            });
        }
        let answered = self.channel.call(request);
        Box::pin(async { answered.await.map_err(Into::into) })
    }
}

/// hyper's own error for a request that a connection did not take any more.
async fn lost(request: http::Request<Body>) -> hyper::Error {
    let (near, far) = tokio::io::duplex(1024);
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(near)).await;
    let (mut sender, connection) = handshake.unwrap();
    drop((connection, far));
    let error = sender.send_request(request).await.unwrap_err();
    assert!(error.is_canceled(), "{error:?}");
    error
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_costs_no_attempt_and_no_delay() {
    for stack in Stack::ALL {
        for lost in [1, 2, 100] {
            let server = VirtualServer::start(Script::always(Answer::Serve));
            let setup = Setup::new(settings()).retrying([]);
            let mut caller = stack.caller(Stale::new(lost, &server), &setup);
            let result = caller.list(reported(ListAssetsRequest::default())).await;
            assert_eq!(rows(&report_of(&result)), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?}");
            assert_eq!(report_of(&result).transparent_retries(), lost, "{stack:?}");
            assert_eq!(server.seen(), [(0, Some(1000))], "{stack:?}");
        }
    }
}

/// It is still the same attempt: its time goes on, and the server is told what is left.
#[tokio::test(start_paused = true)]
async fn a_lost_request_uses_up_its_attempt_s_time() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Answer::Hang));
        let setup = Setup::new(settings()).retrying([]);
        let mut caller = stack.caller(Stale::new(3, &server).after(ms(100)), &setup);
        let report = error_report(&caller.list(ListAssetsRequest::default()).await.unwrap_err());
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 1000, Code::DeadlineExceeded)], "{stack:?}");
        assert_eq!(server.seen(), [(300, Some(700))], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_times_an_operation_and_no_more() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Answer::Serve));
        let mut caller = stack.caller(Stale::new(102, &server), &Setup::new(settings()));
        let result = caller.list(ListAssetsRequest::default()).await;
        let table = [
            row(1, 1000, 0, 0, 0, Code::Unavailable),
            row(2, 1000, 200, 200, 200, Code::Unavailable),
            row(3, 1000, 200, 400, 400, Code::Ok),
        ];
        assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
        assert_eq!(report_of(&result).transparent_retries(), 100, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_can_t_be_replayed_is_not() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Answer::Serve));
        let setup = Setup::new(settings()).replaying(1);
        let mut caller = stack.caller(Stale::new(1, &server), &setup);
        let request = ListAssetsRequest { page_size: 1, ..ListAssetsRequest::default() };
        let report = error_report(&caller.list(request).await.unwrap_err());
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Unavailable)], "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{stack:?}");
        assert_eq!(report.transparent_retries(), 0, "{stack:?}");
    }
}
