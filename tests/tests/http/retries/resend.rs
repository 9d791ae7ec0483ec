//! HTTP requests that no server has carried out, or that met a connection gone stale: which are sent again, and
//! whether that counts.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpRetryLayer, HttpRetryService, IdempotencyStrategy, OperationOptions, Replay, ReplayBody,
    ReqwestService,
};
use gax_retry::Attempt;
use http_body_util::{Empty, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tokio_stream::StreamExt as _;
use tonic_gax::{Code, Compatibility, OperationReport, RetrySettings, StopReason};
use tonic_gax_tests::{
    ConnectionFault, FaultProxy, FaultServer, HttpAct, HttpScript, HttpService, MemoryConnector, RawFrame,
    RawServer, When, http2_client, lasting, ms,
};
use tower_service::Service;

const OK: Code = Code::Ok;
const DOWN: Code = Code::Unavailable;

/// Five attempts of a second, 200 ms apart.
fn settings() -> RetrySettings {
    lasting(10_000).to_builder().max_attempts(5).build().unwrap()
}

fn layer() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [DOWN]).options(OperationOptions::new().reports(true))
}

/// For real time: a millisecond before the second attempt.
fn quick_layer() -> HttpRetryLayer {
    let settings = settings().to_builder().initial_retry_delay(ms(1)).build().unwrap();
    HttpRetryLayer::new(&settings, [DOWN]).options(OperationOptions::new().reports(true))
}

/// hyper-util's client, with connections that it keeps.
fn pooled() -> Client<HttpConnector, Full<Bytes>> {
    Client::builder(TokioExecutor::new()).build_http()
}

/// Sends a request without a body; the codes of its attempts, how often it was sent besides, and the report.
async fn sent<S, B>(
    client: &mut HttpRetryService<S>,
    method: &str,
    url: &str,
) -> (Vec<Code>, u32, OperationReport)
where
    S: HttpService<B>,
    B: Replay + Default,
{
    let request = http::Request::builder().method(method).uri(url).body(B::default()).unwrap();
    let report = match client.call(request).await {
        Ok(response) => response.extensions().get::<OperationReport>().unwrap().clone(),
        Err(error) => error.report().clone(),
    };
    (report.attempts().iter().map(Attempt::code).collect(), report.transparent_retries(), report)
}

const URL: &str = "http://server/thing";

#[tokio::test(start_paused = true)]
async fn a_request_without_a_connection_is_sent_again_whatever_its_method() {
    for method in ["GET", "POST", "PATCH"] {
        let (server, connector) = FaultServer::in_memory(HttpScript::default());
        connector.refuse(2);
        let mut client = layer().layer(FaultServer::full_client(connector));
        let (codes, resends, report) = sent(&mut client, method, URL).await;
        assert_eq!((codes, resends), (vec![DOWN, DOWN, OK], 0), "{report}");
        assert_eq!(server.times(), [400], "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_strategy_never_holds_also_then() {
    let (_server, connector) = FaultServer::in_memory(HttpScript::default());
    connector.refuse(1);
    let never = layer().strategy(IdempotencyStrategy::Never);
    let mut client = never.layer(FaultServer::full_client(connector));
    let (codes, _, report) = sent(&mut client, "GET", URL).await;
    assert_eq!((codes, report.stop_reason()), (vec![DOWN], Some(StopReason::NonRetryable)));
}

/// By gax-java's rules what its transport throws is unknown and final.
#[tokio::test(start_paused = true)]
async fn gax_java_retries_no_connection_failure() {
    let (_server, connector) = FaultServer::in_memory(HttpScript::default());
    connector.refuse(1);
    let java = HttpRetryLayer::new(&settings(), [DOWN, Code::Unknown])
        .options(OperationOptions::new().reports(true).compatibility(Compatibility::GaxJava));
    let mut client = java.layer(FaultServer::full_client(connector));
    let (codes, _, report) = sent(&mut client, "GET", URL).await;
    assert_eq!((codes, report.stop_reason()), (vec![Code::Unknown], Some(StopReason::NonRetryable)));
}

#[tokio::test(start_paused = true)]
async fn what_the_server_has_not_looked_at_is_sent_again_whatever_its_method() {
    let refused = || vec![RawFrame::Reset(7)];
    let excluded = || vec![RawFrame::GoAway { reason: 0, taken: false }, RawFrame::Drop];
    for refusal in [refused, excluded] {
        for method in ["GET", "POST"] {
            // At once, the first time; after that it is an attempt that failed.
            for (times, codes, resends) in
                [(1, vec![OK], 1), (2, vec![DOWN, OK], 1), (3, vec![DOWN, DOWN, OK], 1)]
            {
                let server = RawServer::start(vec![refusal(); times]);
                let mut client = layer().layer(http2_client::<Full<Bytes>>(server.connector()));
                let (seen, resent, report) = sent(&mut client, method, URL).await;
                assert_eq!((seen, resent), (codes, resends), "{method} {times}: {report}");
                assert_eq!(server.requests().len(), times + 1, "{method}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn other_resets_are_of_requests_that_may_have_been_carried_out() {
    for reason in [2, 8, 11] {
        let server = RawServer::start(vec![vec![RawFrame::Reset(reason)]]);
        let mut client = layer().layer(http2_client::<Full<Bytes>>(server.connector()));
        let (codes, resends, report) = sent(&mut client, "POST", URL).await;
        assert_eq!((codes, resends), (vec![DOWN], 0), "{reason}: {report}");
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
    }
}

/// A load balancer without backends, say. Three times at once, then it is an attempt that failed.
#[tokio::test(start_paused = true)]
async fn a_server_that_closes_every_connection_at_once_is_met_with_back_off() {
    for http2 in [false, true] {
        let (proxy, connector) = FaultProxy::in_memory(MemoryConnector::new());
        proxy.always([ConnectionFault::Close(When::Start)]);
        let mut builder = Client::builder(TokioExecutor::new());
        let client = builder.http2_only(http2).build::<_, Full<Bytes>>(connector);
        let (codes, resends, report) = sent(&mut layer().layer(client), "POST", URL).await;
        assert_eq!((codes, resends), (vec![DOWN; 5], 15), "{report}");
        assert_eq!(proxy.accepted(), 20);
        assert_eq!(report.elapsed(), ms(800));
    }
}

/// Gives a connection time to be put back into its client's pool.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// The first reset of a connection that had been used before is nobody's failure.
async fn stale<S, B>(client: impl Fn() -> S)
where
    S: HttpService<B>,
    B: Replay + Default,
{
    let good = || HttpAct::status(200);
    for (method, acts, codes, resends) in [
        ("GET", vec![good(), HttpAct::Reset], vec![OK], 1),
        // The one that it is sent again over is new.
        ("GET", vec![good(), HttpAct::Reset, HttpAct::Reset], vec![DOWN, OK], 1),
        // Between attempts it may happen once more.
        (
            "GET",
            vec![good(), HttpAct::Reset, HttpAct::status(503), HttpAct::Reset, HttpAct::status(503)],
            vec![DOWN, DOWN, OK],
            2,
        ),
        // It may have been carried out.
        ("POST", vec![good(), HttpAct::Reset], vec![DOWN], 0),
    ] {
        let count = acts.len();
        let (_server, url) = FaultServer::on_socket(HttpScript::new(acts)).await;
        let mut client = quick_layer().layer(client());
        let (first, ..) = sent(&mut client, "GET", &url).await;
        assert_eq!(first, [OK]);
        settle().await;
        let (seen, resent, report) = sent(&mut client, method, &url).await;
        assert_eq!((seen, resent), (codes, resends), "{method} {count}: {report}");
    }
    // A connection that nothing has come over before.
    let (_server, url) = FaultServer::on_socket(HttpScript::new([HttpAct::Reset])).await;
    let mut client = layer().layer(client());
    let (codes, resends, report) = sent(&mut client, "GET", &url).await;
    assert_eq!((codes, resends), (vec![DOWN, OK], 0), "{report}");
}

#[tokio::test]
async fn a_stale_connection_of_hyper_utils_client_costs_no_attempt() {
    stale(pooled).await;
}

#[tokio::test]
async fn a_stale_connection_of_reqwests_client_costs_no_attempt() {
    stale::<_, Empty<Bytes>>(|| ReqwestService::new(reqwest::Client::new())).await;
}

/// reqwest reports on the last hop, which need not hold for the first.
#[tokio::test]
async fn a_request_that_reqwest_was_redirected_with_counts_as_carried_out() {
    for status in [301, 302, 303, 307] {
        let away = HttpAct::status(status).with_header("location", "http://127.0.0.1:1/");
        let (server, url) = FaultServer::on_socket(HttpScript::new([away])).await;
        let mut client = layer().layer(ReqwestService::new(reqwest::Client::new()));
        let (codes, resends, report) = sent::<_, ReplayBody>(&mut client, "POST", &url).await;
        assert_eq!((codes, resends), (vec![DOWN], 0), "{status}: {report}");
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{status}");
        assert_eq!(server.arrivals().len(), 1);
    }
}

#[tokio::test]
async fn a_post_that_reqwest_finds_no_connection_for_is_sent_again() {
    let mut client = quick_layer().layer(ReqwestService::new(reqwest::Client::new()));
    let (codes, _, report) = sent::<_, ReplayBody>(&mut client, "POST", "http://127.0.0.1:1/").await;
    assert_eq!((codes, report.stop_reason()), (vec![DOWN; 5], Some(StopReason::MaxAttempts)), "{report}");
    let error =
        client.call(http::Request::post("http://127.0.0.1:1/").body(ReplayBody::empty()).unwrap()).await;
    let error = error.map(|response| response.status()).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().is::<reqwest::Error>());
}

/// Fails when it is asked whether it is ready, so many times; what has failed, and what is copied from it, must
/// be left alone.
#[derive(Debug, Clone)]
struct Fragile {
    left: Arc<AtomicU32>,
    has_failed: bool,
}

impl Service<http::Request<Full<Bytes>>> for Fragile {
    type Response = http::Response<Full<Bytes>>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        assert!(!self.has_failed, "a service that has failed was asked again");
        let take = |left: u32| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            self.has_failed = true;
            return Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into()));
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Full<Bytes>>) -> Self::Future {
        assert!(!self.has_failed, "a service that has failed was called");
        ready(Ok(http::Response::new(Full::default())))
    }
}

fn fragile(times: u32) -> Fragile {
    Fragile { left: Arc::new(AtomicU32::new(times)), has_failed: false }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_has_failed_is_left_alone() {
    let mut client = layer().layer(fragile(3));
    let (codes, ..) = sent(&mut client, "POST", URL).await;
    assert_eq!(codes, [DOWN, DOWN, DOWN, OK]);
}

/// A buffer whose service has failed takes no request ever again.
#[tokio::test(start_paused = true)]
async fn a_client_that_is_closed_for_good_is_not_asked_twice() {
    let mut client = layer().layer(tower::buffer::Buffer::new(fragile(1), 8));
    for _ in 0..2 {
        let (codes, _, report) = sent(&mut client, "GET", URL).await;
        assert_eq!((codes, report.stop_reason()), (vec![DOWN], Some(StopReason::ChannelClosed)), "{report}");
    }
}

#[tokio::test]
async fn the_strategy_never_holds_for_a_stale_connection_too() {
    let (server, url) = FaultServer::on_socket(HttpScript::new([HttpAct::status(200), HttpAct::Reset])).await;
    let mut client = layer().strategy(IdempotencyStrategy::Never).layer(pooled());
    assert_eq!(sent(&mut client, "GET", &url).await.0, [OK]);
    settle().await;
    let (codes, resends, report) = sent(&mut client, "GET", &url).await;
    assert_eq!((codes, resends), (vec![DOWN], 0), "{report}");
    assert_eq!(server.arrivals().len(), 2);
}

/// A service that is never ready.
#[derive(Debug, Clone, Copy)]
struct Busy;

impl Service<http::Request<ReplayBody>> for Busy {
    type Response = http::Response<Full<Bytes>>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn call(&mut self, _: http::Request<ReplayBody>) -> Self::Future {
        ready(Ok(http::Response::new(Full::default())))
    }
}

/// A file that was opened for an attempt which was never sent is closed before the wait.
#[tokio::test(start_paused = true)]
async fn what_was_opened_for_an_attempt_that_was_not_sent_is_closed_before_the_wait() {
    let file = Arc::new(Bytes::from_static(b"file"));
    let opened = Arc::downgrade(&file);
    let body = ReplayBody::from_fn(move || {
        let file = Arc::clone(&file);
        http_body_util::StreamBody::new(
            tokio_stream::iter([()])
                .map(move |()| Ok::<_, io::Error>(http_body::Frame::data(Bytes::clone(&file)))),
        )
    });
    let settings = settings().to_builder().initial_rpc_timeout(ms(1000)).build().unwrap();
    let mut client = HttpRetryLayer::new(&settings, [Code::DeadlineExceeded]).layer(Busy);
    let request = http::Request::put(URL).body(body).unwrap();
    let call = tokio::spawn(async move { client.call(request).await.map(drop) });
    // In the first attempt, in the wait of 200 ms behind it, and in the second.
    for (later, count) in [(500, 2), (600, 1), (400, 2)] {
        tokio::time::sleep(ms(later)).await;
        assert_eq!(opened.strong_count(), count, "{later}");
    }
    call.abort();
}

/// The server had given the idle connection up when the request went out: nobody had asked for its 408.
#[tokio::test]
async fn a_408_on_a_connection_that_was_used_before_is_a_closed_connection() {
    let parting = || HttpAct::status(408).with_header("connection", "close");
    let twice = async |method: &str, second: HttpAct| {
        let script = HttpScript::new([HttpAct::status(200), second, HttpAct::status(201)]);
        let (server, url) = FaultServer::on_socket(script).await;
        let mut client = layer().layer(pooled());
        sent(&mut client, "GET", &url).await;
        let (codes, resends, report) = sent(&mut client, method, &url).await;
        (codes, resends, server.accepted(), report)
    };
    for method in ["GET", "PUT", "DELETE"] {
        let (codes, resends, connections, report) = twice(method, parting()).await;
        assert_eq!((codes, resends, connections), (vec![OK], 1, 2), "{report}");
    }
    // It may be meant for the request, which may have been carried out.
    let (codes, resends, _, report) = twice("POST", parting()).await;
    assert_eq!((codes, resends), (vec![Code::FailedPrecondition], 0), "{report}");
    // One that leaves the connection open was asked for.
    let (codes, resends, _, report) = twice("GET", HttpAct::status(408)).await;
    assert_eq!((codes, resends), (vec![Code::FailedPrecondition], 0), "{report}");
    // So was the first response of a connection.
    let (_server, url) = FaultServer::on_socket(HttpScript::new([parting()])).await;
    let (codes, resends, report) = sent(&mut layer().layer(pooled()), "GET", &url).await;
    assert_eq!((codes, resends), (vec![Code::FailedPrecondition], 0), "{report}");
}
