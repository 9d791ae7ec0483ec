//! The HTTP layer over real sockets, under hyper-util's client and under reqwest's. What is asserted is what
//! happened, never how long it took.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpFailure, HttpReport, HttpRetryLayer, HttpRetryService, OperationOptions, Replay, ReplayBody,
    ReqwestService, TransportFailure,
};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tonic_gax::{Code, OperationReport, RetrySettings, StopReason};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, HttpService, ms};
use tower_service::Service;

fn layer() -> HttpRetryLayer {
    let settings = RetrySettings::builder()
        .initial_retry_delay(ms(1))
        .initial_rpc_timeout(ms(300))
        .max_rpc_timeout(ms(300))
        .max_attempts(7)
        .build()
        .unwrap();
    HttpRetryLayer::new(&settings, [Code::Unavailable, Code::DeadlineExceeded])
        .options(OperationOptions::new().reports(true))
}

/// Sends a `PUT`; its status and body, and the report of either end.
async fn put<S, B>(
    client: &mut HttpRetryService<S>,
    url: &str,
    body: B,
) -> (Option<(u16, Bytes)>, OperationReport)
where
    S: HttpService<B>,
    B: Replay,
{
    match client.call(http::Request::put(url).body(body).unwrap()).await {
        Ok(mut response) => {
            let report = response.extensions_mut().remove().unwrap();
            let status = response.status().as_u16();
            (Some((status, response.into_body().collect().await.unwrap().to_bytes())), report)
        }
        Err(error) => (None, error.report().clone()),
    }
}

fn breaks_every_way() -> HttpScript {
    HttpScript::new([
        HttpAct::Reset,
        HttpAct::Truncate,
        HttpAct::status(503),
        HttpAct::Stall,
        HttpAct::StallInBody(200),
    ])
}

const FAILURES: [HttpFailure; 5] = [
    HttpFailure::Transport(TransportFailure::Reset),
    HttpFailure::Transport(TransportFailure::Truncated),
    HttpFailure::Status(503),
    HttpFailure::Transport(TransportFailure::Timeout),
    HttpFailure::Transport(TransportFailure::Timeout),
];

fn check(server: &FaultServer, reply: Option<&(u16, Bytes)>, report: &OperationReport) {
    assert_eq!(reply, Some(&(200, Bytes::from_static(br#"{"status":200}"#))), "{report}");
    assert_eq!(report.detail::<HttpReport>().unwrap().failures(), FAILURES, "{report}");
    let arrivals = server.arrivals();
    assert_eq!(arrivals.len(), 6);
    for arrival in arrivals {
        assert_eq!((&*arrival.method, &arrival.body[..]), ("PUT", &b"content"[..]));
        assert_eq!(arrival.header("content-length"), Some("7"));
    }
}

#[tokio::test]
async fn hyper_utils_client() {
    let (server, url) = FaultServer::on_socket(breaks_every_way()).await;
    let mut client = layer().layer(Client::builder(TokioExecutor::new()).build_http());
    let content = Full::new(Bytes::from_static(b"content"));
    let (reply, report) = put(&mut client, &url, content).await;
    check(&server, reply.as_ref(), &report);
}

#[tokio::test]
async fn reqwests_client() {
    let (server, url) = FaultServer::on_socket(breaks_every_way()).await;
    let mut client = layer().layer(ReqwestService::new(reqwest::Client::new()));
    let content = ReplayBody::from_bytes("content");
    let (reply, report) = put(&mut client, &url, content).await;
    check(&server, reply.as_ref(), &report);
}

#[tokio::test]
async fn a_port_that_nobody_listens_at_is_refused() {
    let nobody = "http://127.0.0.1:1/";
    let mut hyper = layer().layer(Client::builder(TokioExecutor::new()).build_http::<ReplayBody>());
    let mut reqwest = layer().layer(ReqwestService::new(reqwest::Client::new()));
    let refused = [HttpFailure::Transport(TransportFailure::Connect); 7];
    for (reply, report) in [
        put(&mut hyper, nobody, ReplayBody::empty()).await,
        put(&mut reqwest, nobody, ReplayBody::empty()).await,
    ] {
        assert_eq!((reply, report.stop_reason()), (None, Some(StopReason::MaxAttempts)));
        assert_eq!(report.detail::<HttpReport>().unwrap().failures(), refused);
    }
}

#[tokio::test]
async fn a_request_that_no_client_takes_is_not_sent_again() {
    let mut hyper = layer().layer(Client::builder(TokioExecutor::new()).build_http::<ReplayBody>());
    let mut reqwest = layer().layer(ReqwestService::new(reqwest::Client::new()));
    for (reply, report) in [
        put(&mut hyper, "/no/host", ReplayBody::empty()).await,
        put(&mut reqwest, "/no/host", ReplayBody::empty()).await,
    ] {
        assert_eq!((reply, report.stop_reason()), (None, Some(StopReason::NonRetryable)));
        assert_eq!(
            (report.attempts().len(), report.detail::<HttpReport>().unwrap().failures()),
            (1, &[][..])
        );
    }
}

#[tokio::test]
async fn streams_go_through_both_clients() {
    let stream = || ReplayBody::from_fn(|| Full::new(Bytes::from_static(b"content")));
    let (server, url) = FaultServer::on_socket(breaks_every_way()).await;
    let mut client = layer().layer(ReqwestService::new(reqwest::Client::new()));
    let (reply, report) = put(&mut client, &url, stream()).await;
    check(&server, reply.as_ref(), &report);
    let (server, url) = FaultServer::on_socket(breaks_every_way()).await;
    let mut client = layer().layer(Client::builder(TokioExecutor::new()).build_http());
    let (reply, report) = put(&mut client, &url, stream()).await;
    check(&server, reply.as_ref(), &report);
}
