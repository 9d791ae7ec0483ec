//! Bodies of HTTP responses: those that stall, break off or take long.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_retry::Attempt;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use tonic_gax::{
    Code, HttpResponseBody, HttpRetryLayer, HttpRetryService, OperationReport, RetrySettings, StopReason,
};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, MemoryConnector, ms};
use tower_layer::Layer as _;
use tower_service::Service as _;

type Memory = Client<MemoryConnector, Full<Bytes>>;
type Response = http::Response<HttpResponseBody<hyper::body::Incoming>>;

/// Attempts of a second, delays of 100 ms x 2, ten seconds in all.
fn settings() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(ms(100))
        .retry_delay_multiplier(2.0)
        .initial_rpc_timeout(ms(1000))
        .total_timeout(ms(10_000))
        .jittered(false)
        .build()
        .unwrap()
}

fn layer(settings: &RetrySettings) -> HttpRetryLayer {
    HttpRetryLayer::new(settings, [Code::Unavailable, Code::DeadlineExceeded])
}

fn client(
    layer: &HttpRetryLayer,
    acts: impl IntoIterator<Item = HttpAct>,
) -> (HttpRetryService<Memory>, FaultServer) {
    let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
    (layer.layer(FaultServer::full_client(connector)), server)
}

fn request(method: &str) -> http::Request<Full<Bytes>> {
    http::Request::builder().method(method).uri("http://server/thing").body(Full::default()).unwrap()
}

fn report(response: &Response) -> &OperationReport {
    response.extensions().get().unwrap()
}

/// When the attempts started and ended, and with which code.
fn rows(report: &OperationReport) -> Vec<(u128, u128, Code)> {
    let row = |row: &Attempt| (row.start().as_millis(), row.end().as_millis(), row.code());
    report.attempts().iter().map(row).collect()
}

/// What a body has to give, and the error that it ends with.
async fn read(response: Response) -> (Vec<u8>, Option<String>) {
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(frame.data_ref().unwrap()),
            Err(error) => return (bytes, Some(error.to_string())),
        }
    }
    (bytes, None)
}

const OUT_OF_TIME: &str = "the response did not end before its attempt's time was up";

#[tokio::test(start_paused = true)]
async fn a_retryable_status_is_retried_though_its_body_stalls() {
    let (mut client, server) = client(&layer(&settings()), [HttpAct::StallInBody(503)]);
    let response = client.call(request("GET")).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(rows(report(&response)), [(0, 0, Code::Unavailable), (100, 100, Code::Ok)]);
    assert_eq!(server.times(), [0, 100]);
}

#[tokio::test(start_paused = true)]
async fn reading_the_body_of_a_retryable_status_is_part_of_the_delay() {
    for (delay, second) in [(0, 100), (30, 100), (100, 100), (250, 250)] {
        let settings = settings().to_builder().initial_retry_delay(ms(delay)).build().unwrap();
        let (mut client, server) = client(&layer(&settings), [HttpAct::StallInBody(503)]);
        assert_eq!(client.call(request("GET")).await.unwrap().status(), 200);
        assert_eq!(server.times(), [0, second], "a delay of {delay} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_final_status_is_handed_on_at_once_with_its_body_open() {
    for (method, status) in [("GET", 404), ("GET", 400), ("POST", 503)] {
        let (mut client, server) = client(&layer(&settings()), [HttpAct::StallInBody(status)]);
        let response = client.call(request(method)).await.unwrap();
        assert_eq!((response.status().as_u16(), server.elapsed()), (status, ms(0)));
        assert_eq!(rows(report(&response)), [(0, 0, Code::from_http_status(status))]);
        assert_eq!(report(&response).stop_reason(), Some(StopReason::NonRetryable));
        assert_eq!(read(response).await, (b"hello".to_vec(), Some(OUT_OF_TIME.to_owned())));
        assert_eq!(server.elapsed(), ms(1000), "the body is under the attempt's clock");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_response_has_what_was_read_of_its_body_in_front() {
    let once = settings().to_builder().max_attempts(1).build().unwrap();
    let (mut stalled, server) = client(&layer(&once), [HttpAct::StallInBody(503)]);
    let response = stalled.call(request("GET")).await.unwrap();
    assert_eq!((response.status().as_u16(), server.elapsed()), (503, ms(100)));
    assert_eq!(rows(report(&response)), [(0, 0, Code::Unavailable)]);
    assert_eq!(report(&response).stop_reason(), Some(StopReason::MaxAttempts));
    assert_eq!(read(response).await, (b"hello".to_vec(), Some(OUT_OF_TIME.to_owned())));
    assert_eq!(server.elapsed(), ms(1000));

    let long: Vec<u8> = (0..=u8::MAX).cycle().take(200_000).collect();
    let (mut whole, server) = client(&layer(&once), [HttpAct::status(503).with_body(long.clone())]);
    let response = whole.call(request("GET")).await.unwrap();
    assert_eq!(read(response).await, (long, None));
    assert_eq!(server.elapsed(), ms(0), "what is there is not waited for");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_outlasts_the_total_ends_the_operation_with_its_response() {
    let short = settings().to_builder().total_timeout(ms(50)).initial_retry_delay(ms(10)).build().unwrap();
    let (mut client, server) = client(&layer(&short), [HttpAct::StallInBody(503)]);
    let response = client.call(request("GET")).await.unwrap();
    assert_eq!((response.status().as_u16(), server.elapsed()), (503, ms(50)));
    assert_eq!(rows(report(&response)), [(0, 0, Code::Unavailable)]);
    assert_eq!(report(&response).stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!(read(response).await, (b"hello".to_vec(), Some(OUT_OF_TIME.to_owned())));
}

#[tokio::test(start_paused = true)]
async fn the_connection_of_a_short_error_is_used_again_and_that_of_a_long_one_is_let_go() {
    let short = HttpAct::status(503).with_body(vec![b'a'; 16 * 1024]);
    let long = HttpAct::status(503).with_body(vec![b'a'; 1024 * 1024]);
    for (act, connections) in [(short, 1), (long, 2), (HttpAct::StallInBody(503), 2)] {
        let (mut client, server) = client(&layer(&settings()), [act]);
        assert_eq!(client.call(request("GET")).await.unwrap().status(), 200);
        assert_eq!(server.accepted(), connections);
    }
}
