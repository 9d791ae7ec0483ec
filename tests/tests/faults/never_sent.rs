//! Requests that were lost before they left: sent again at once, a bounded number of times.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{AttemptKind, Code, StartedAttempt, StopReason};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::codegen::StdError;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{
    Reply, Script, Setup, Stack, VirtualServer, error_report, ms, report_of, reported, row, rows, settings,
};
use tower_service::Service;

/// A channel that hands its first requests to a connection that is gone, which takes a while to show.
#[derive(Debug, Clone)]
struct Stale {
    channel: Channel,
    losses: Arc<Mutex<Vec<hyper::Error>>>,
    after: Duration,
    /// How many turns other tasks had had when each request came.
    turns: Turns,
}

impl Stale {
    async fn new(times: usize, server: &VirtualServer) -> Self {
        let mut losses = Vec::new();
        for _ in 0..times {
            losses.push(lost().await);
        }
        let losses = Arc::new(Mutex::new(losses));
        Self { channel: server.channel(), losses, after: Duration::ZERO, turns: Turns::default() }
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
        self.turns.note();
        if let Some(error) = self.losses.lock().unwrap().pop() {
            let after = self.after;
            return Box::pin(async move {
                if !after.is_zero() {
                    tokio::time::sleep(after).await;
                }
                Err(error.into())
            });
        }
        let replied = self.channel.call(request);
        Box::pin(async { replied.await.map_err(Into::into) })
    }
}

/// Counts the turns that tasks get beside an operation.
#[derive(Debug, Clone, Default)]
struct Turns {
    so_far: Arc<AtomicU32>,
    noted: Arc<Mutex<Vec<u32>>>,
}

impl Turns {
    fn note(&self) {
        self.noted.lock().unwrap().push(self.so_far.load(Ordering::Relaxed));
    }

    /// A task that takes every turn it gets.
    fn take(&self) {
        let so_far = Arc::clone(&self.so_far);
        tokio::spawn(async move {
            loop {
                so_far.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        });
    }
}

/// hyper's own error for a request that a connection did not take any more.
async fn lost() -> hyper::Error {
    let (near, far) = tokio::io::duplex(1024);
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(near)).await;
    let (mut sender, connection) = handshake.unwrap();
    drop((connection, far));
    let error = sender.send_request(http::Request::new(Body::empty())).await.unwrap_err();
    assert!(error.is_canceled(), "{error:?}");
    error
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_costs_no_attempt_and_no_delay() {
    for stack in Stack::ALL {
        for lost in 1..=3 {
            let server = VirtualServer::start(Script::always(Reply::Serve));
            let setup = Setup::new(settings()).retrying([]);
            let mut caller = stack.caller(Stale::new(lost, &server).await, &setup);
            let result = caller.list(reported(ListAssetsRequest::default())).await;
            assert_eq!(rows(&report_of(&result)), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?}");
            assert_eq!(report_of(&result).transparent_retries(), u32::try_from(lost).unwrap(), "{stack:?}");
            assert_eq!(server.seen(), [(0, Some(1000))], "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_uses_up_its_attempt_s_time() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let setup = Setup::new(settings()).retrying([]);
        let mut caller = stack.caller(Stale::new(3, &server).await.after(ms(100)), &setup);
        let report = error_report(&caller.list(ListAssetsRequest::default()).await.unwrap_err());
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 1000, Code::DeadlineExceeded)], "{stack:?}");
        assert_eq!(server.seen(), [(300, Some(700))], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn three_times_between_two_attempts_and_no_more() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let mut caller = stack.caller(Stale::new(4 + 4 + 2, &server).await, &Setup::new(settings()));
        let result = caller.list(ListAssetsRequest::default()).await;
        let table = [
            row(1, 1000, 0, 0, 0, Code::Unavailable),
            row(2, 1000, 200, 200, 200, Code::Unavailable),
            row(3, 1000, 200, 400, 400, Code::Ok),
        ];
        assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
        let report = report_of(&result);
        assert_eq!(report.transparent_retries(), 3 + 3 + 2, "{stack:?}");
        let of_each: Vec<_> = report.attempts().iter().map(gax_retry::Attempt::transparent_retries).collect();
        assert_eq!(of_each, [3, 3, 2], "{stack:?}");
        let line = "sent again at once: 8 times (not counted as attempts); \
                    3 of attempt 1, 3 of attempt 2, 2 of attempt 3";
        assert!(report.to_string().contains(line), "{report}");
    }
}

/// The attempt's number and kind and the attempts before it, as an interceptor finds them in a request's extensions.
type Seen = Option<(u32, AttemptKind, u32)>;

/// Layers and interceptors inside see a transparent retry, also of the first attempt. The server's header counts attempts.
#[tokio::test(start_paused = true)]
async fn a_transparent_retry_is_seen_on_the_way() {
    for stack in Stack::ALL {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let server = VirtualServer::start(Script::of([(ms(0), Reply::unavailable())]));
        let log = Arc::clone(&seen);
        let watching = move |request: tonic::Request<()>| {
            let started = request.extensions().get::<StartedAttempt>();
            let facts: Seen = started.map(|one| (one.number(), one.kind(), one.transparent_retries()));
            log.lock().unwrap().push(facts);
            Ok(request)
        };
        let channel = InterceptedService::new(Stale::new(2, &server).await, watching);
        let mut caller = stack.caller(channel, &Setup::new(settings()));
        caller.list(ListAssetsRequest::default()).await.unwrap();
        let resend = |count| Some((1, AttemptKind::Resend, count));
        let expected = [None, resend(1), resend(2), Some((2, AttemptKind::Retry, 0))];
        assert_eq!(*seen.lock().unwrap(), expected, "{stack:?}");
        let counts: Vec<_> = server
            .log()
            .arrivals()
            .iter()
            .map(|arrival| arrival.header("grpc-previous-rpc-attempts").map(str::to_owned))
            .collect();
        assert_eq!(counts, [None, Some("1".to_owned())], "{stack:?}");
    }
}

/// A balancer without backends takes every connection and closes it.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_always_lost_ends_with_its_attempts() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let settings = settings().to_builder().max_attempts(5).build().unwrap();
        let stale = Stale::new(1000, &server).await;
        let mut caller = stack.caller(stale.clone(), &Setup::new(settings));
        let report = error_report(&caller.list(ListAssetsRequest::default()).await.unwrap_err());
        assert_eq!(report.attempts().len(), 5, "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts), "{stack:?}");
        assert_eq!(report.transparent_retries(), 15, "{stack:?}");
        assert_eq!(stale.turns.noted.lock().unwrap().len(), 20, "{stack:?}");
        assert_eq!(server.seen(), [], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn other_tasks_get_a_turn_before_each_transparent_retry() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let stale = Stale::new(3, &server).await;
        let mut caller = stack.caller(stale.clone(), &Setup::new(settings()));
        stale.turns.take();
        caller.list(ListAssetsRequest::default()).await.unwrap();
        let noted = stale.turns.noted.lock().unwrap();
        assert_eq!(noted.len(), 4, "{stack:?}");
        assert!(noted.is_sorted_by(|earlier, later| earlier < later), "{stack:?}: {noted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_can_t_be_replayed_is_not() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let setup = Setup::new(settings()).replaying(1);
        let mut caller = stack.caller(Stale::new(1, &server).await, &setup);
        let request = ListAssetsRequest { page_size: 1, ..ListAssetsRequest::default() };
        let report = error_report(&caller.list(request).await.unwrap_err());
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Unavailable)], "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{stack:?}");
        assert_eq!(report.transparent_retries(), 0, "{stack:?}");
    }
}
