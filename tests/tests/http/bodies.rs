//! Bodies of HTTP responses: those that stall, break off or take long.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{HttpError, HttpResponseBody, HttpRetryLayer, HttpRetryService, TransportFailure, presets};
use gax_retry::Attempt;
use http_body::Body as _;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::convert::Infallible;
use tonic_gax::{CallOptions, Code, Note, OperationOptions, OperationReport, RetrySettings, StopReason};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, MemoryConnector, RawFrame, RawServer, delays, ms};
use tower_layer::Layer as _;
use tower_service::Service as _;

type Memory = Client<MemoryConnector, Full<Bytes>>;
type Response = http::Response<HttpResponseBody<hyper::body::Incoming>>;

/// Attempts of a second, delays of 100 ms x 2, ten seconds in all.
fn settings() -> RetrySettings {
    delays(100, 2.0).initial_rpc_timeout(ms(1000)).total_timeout(ms(10_000)).build().unwrap()
}

fn layer(settings: &RetrySettings) -> HttpRetryLayer {
    HttpRetryLayer::new(settings, [Code::Unavailable, Code::DeadlineExceeded])
        .options(OperationOptions::new().reports(true))
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

/// The bytes of a body, and the error that it ends with.
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

const OUT_OF_TIME: &str = "the response did not end before its attempt timed out";

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

/// An error whose body stalls is read for 100 ms, and its connection is not kept through the rest of the delay.
#[tokio::test(start_paused = true)]
async fn the_connection_of_an_error_that_is_not_read_to_its_end_is_let_go_before_the_wait() {
    let slow = settings().to_builder().initial_retry_delay(ms(400)).max_retry_delay(ms(400)).build().unwrap();
    let (mut client, server) = client(&layer(&slow), [HttpAct::StallInBody(503)]);
    let between = async {
        let mut open = Vec::new();
        for _ in 0..4 {
            tokio::time::sleep(ms(90)).await;
            open.push(server.connections());
        }
        open
    };
    let (response, open) = tokio::join!(client.call(request("GET")), between);
    assert_eq!(rows(report(&response.unwrap())), [(0, 0, Code::Unavailable), (400, 400, Code::Ok)]);
    // After 90, 180, 270 and 360 ms.
    assert_eq!(open, [1, 0, 0, 0]);
}

/// A body of three pieces of five bytes, each eight seconds after the previous one.
fn eight_seconds_apart() -> HttpAct {
    HttpAct::Slow(vec![(ms(8000), "first"), (ms(8000), "secon"), (ms(8000), "third")])
}

/// Hands on a success as soon as a byte of its body is there.
fn streaming(settings: &RetrySettings) -> HttpRetryLayer {
    layer(settings).max_response_buffer(0)
}

#[tokio::test(start_paused = true)]
async fn a_transfer_that_was_handed_on_may_outlast_every_timeout() {
    let presets = HttpRetryLayer::preset(&presets::storage().with_deadline(ms(10_000)))
        .options(OperationOptions::new().reports(true));
    let settings = settings().to_builder().initial_rpc_timeout(ms(9000)).build().unwrap();
    for layer in [streaming(&settings), presets.max_response_buffer(0)] {
        let (mut client, server) = client(&layer, [eight_seconds_apart()]);
        let response = client.call(request("GET")).await.unwrap();
        assert_eq!((rows(report(&response)), server.elapsed()), (vec![(0, 8000, Code::Ok)], ms(8000)));
        assert_eq!(report(&response).notes(), [Note::RESPONSE_TOO_LARGE_TO_BUFFER]);
        assert_eq!(read(response).await, (b"firstseconthird".to_vec(), None));
        assert_eq!(server.elapsed(), ms(24_000));
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_request_being_served_does_not_cut_a_body_that_was_handed_on() {
    let (client, server) = client(&streaming(&settings()), [eight_seconds_apart()]);
    let handler = tower::service_fn(move |_: http::Request<Full<Bytes>>| {
        let mut client = client.clone();
        async move {
            let mut request = request("GET");
            request.extensions_mut().insert(CallOptions::new().attempt_timeout(ms(9000)));
            let response = client.call(request).await.unwrap();
            assert_eq!(read(response).await, (b"firstseconthird".to_vec(), None));
            Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
        }
    });
    let mut inbound = request("GET");
    inbound.headers_mut().insert("grpc-timeout", http::HeaderValue::from_static("9S"));
    tonic_gax::DeadlineLayer::new().layer(handler).call(inbound).await.unwrap();
    assert_eq!(server.elapsed(), ms(24_000));
}

#[tokio::test(start_paused = true)]
async fn an_idle_timeout_ends_a_body_that_has_stopped_and_no_other() {
    let settings = settings().to_builder().initial_rpc_timeout(ms(9000)).build().unwrap();
    let layer = streaming(&settings).body_idle_timeout(ms(8500));
    let (mut moving, server) = client(&layer, [eight_seconds_apart()]);
    let response = moving.call(request("GET")).await.unwrap();
    assert_eq!(read(response).await, (b"firstseconthird".to_vec(), None));
    assert_eq!(server.elapsed(), ms(24_000));

    let (mut stopped, server) = client(&layer, [HttpAct::StallInBody(200)]);
    let response = stopped.call(request("GET")).await.unwrap();
    let idle = "the response sent nothing more for 8.5s".to_owned();
    assert_eq!(read(response).await, (b"hello".to_vec(), Some(idle)));
    assert_eq!(server.elapsed(), ms(8500));
}

#[tokio::test(start_paused = true)]
async fn time_in_which_nobody_reads_is_not_idle() {
    let act = HttpAct::Slow(vec![(ms(0), "first"), (ms(1000), "secon"), (ms(62_000), "third")]);
    let (mut client, server) = client(&streaming(&settings()).body_idle_timeout(ms(5000)), [act]);
    let mut body = client.call(request("GET")).await.unwrap().into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
    tokio::time::timeout(ms(60_000), std::future::pending::<()>()).await.unwrap_err();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "secon");
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "third");
    assert_eq!(server.elapsed(), ms(63_000), "three seconds of waiting");
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_idle_timeout_ends_an_attempt_whose_body_is_still_read() {
    let storage = HttpRetryLayer::preset(&presets::storage())
        .options(OperationOptions::new().reports(true))
        .body_idle_timeout(ms(5000))
        .options(OperationOptions::new().jitter_seed(1));
    let get = || http::Request::get("http://server/storage/v1/b").body(Full::default()).unwrap();
    let (mut again, _) = client(&storage, [HttpAct::StallInBody(200)]);
    let response = again.call(get()).await.unwrap();
    let rows = rows(report(&response));
    assert_eq!(rows.first(), Some(&(0, 5000, Code::DeadlineExceeded)));
    assert_eq!(rows.last().map(|row| row.2), Some(Code::Ok));

    let once = settings().to_builder().max_attempts(1).initial_rpc_timeout(ms(9000)).build().unwrap();
    let (mut last, _) = client(&layer(&once).body_idle_timeout(ms(5000)), [HttpAct::StallInBody(200)]);
    let error = last.call(request("GET")).await.unwrap_err();
    assert_eq!((error.failure(), error.code()), (Some(TransportFailure::Timeout), Code::DeadlineExceeded));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "the response sent nothing more for 5s");
}

#[tokio::test(start_paused = true)]
async fn an_idle_timeout_watches_the_body_of_an_error_too() {
    let (mut client, server) =
        client(&layer(&settings()).body_idle_timeout(ms(300)), [HttpAct::StallInBody(404)]);
    let response = client.call(request("GET")).await.unwrap();
    let idle = "the response sent nothing more for 300ms".to_owned();
    assert_eq!(read(response).await, (b"hello".to_vec(), Some(idle)));
    assert_eq!(server.elapsed(), ms(300));
}

/// One request to a scripted service: the method, the status and the announced lengths of the
/// response, and the body that comes.
async fn announced(
    method: &str,
    status: u16,
    lengths: &[&'static str],
    body: &'static str,
) -> Result<OperationReport, HttpError> {
    let service = tower::service_fn(|_: http::Request<Full<Bytes>>| {
        let mut response = http::Response::builder().status(status);
        for length in lengths {
            response = response.header("content-length", *length);
        }
        std::future::ready(Ok::<_, Infallible>(
            response.body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap(),
        ))
    });
    let once = settings().to_builder().max_attempts(1).build().unwrap();
    let mut response = layer(&once).layer(service).call(request(method)).await?;
    let report = response.extensions_mut().remove().unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), body);
    Ok(report)
}

#[tokio::test(start_paused = true)]
async fn a_success_is_as_long_as_it_was_announced_to_be() {
    for (lengths, body) in [(&["10"][..], "four"), (&["1"], ""), (&["5", "5"], "four"), (&["5, 5"], "four")] {
        let error = announced("GET", 200, lengths, body).await.unwrap_err();
        assert_eq!(error.failure(), Some(TransportFailure::Truncated), "{lengths:?}");
    }
    let error = announced("GET", 206, &["10"], "four").await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert_eq!(
        error.to_string(),
        "GET /thing failed after 1 attempt in 0 ms (MAX_ATTEMPTS): the response broke off"
    );
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "the response ended after 4 of 10 bytes");
}

#[tokio::test(start_paused = true)]
async fn lengths_that_say_nothing_of_the_body_are_not_held_against_it() {
    for (method, status, lengths, body) in [
        ("HEAD", 200, &["10"][..], ""),
        ("GET", 204, &["10"], ""),
        ("GET", 304, &["10"], ""),
        ("GET", 200, &["4"], "four"),
        ("GET", 200, &["3"], "four"),
        ("GET", 200, &[], "four"),
        ("GET", 200, &["soon"], "four"),
        ("GET", 200, &["-5"], "four"),
        ("GET", 200, &["5", "6"], "four"),
        ("GET", 200, &["99999999999999999999"], "four"),
    ] {
        let report = announced(method, status, lengths, body).await.unwrap();
        assert_eq!(report.attempts().len(), 1, "{method} {status} {lengths:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_length_of_a_chunked_body_is_in_its_chunks() {
    let service = tower::service_fn(|_: http::Request<Full<Bytes>>| {
        let response =
            http::Response::builder().header("content-length", "10").header("transfer-encoding", "chunked");
        std::future::ready(Ok::<_, Infallible>(
            response.body(Full::new(Bytes::from_static(b"four"))).unwrap(),
        ))
    });
    assert!(layer(&settings()).layer(service).call(request("GET")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_http2_ends_in_silence_is_truncated() {
    let cut = || vec![RawFrame::Announce(9), RawFrame::Data, RawFrame::Reset(0)];
    for (buffer, attempts) in [(1024, 3), (0, 1)] {
        let server = RawServer::start([cut(), cut()]);
        let connection = server.connector().connect().unwrap();
        let (sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), connection).await.unwrap();
        tokio::spawn(connection);
        let service = tower::service_fn(move |request| sender.clone().send_request(request));
        let mut client = layer(&settings()).max_response_buffer(buffer).layer(service);
        let response = client.call(request("GET")).await.unwrap();
        assert_eq!(report(&response).attempts().len(), attempts);
        let mut body = response.into_body();
        assert!(!body.is_end_stream());
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        if attempts == 1 {
            assert_eq!((frame.len(), body.is_end_stream()), (6, false));
            let error = body.frame().await.unwrap().unwrap_err();
            assert_eq!(error.to_string(), "the response ended after 6 of 9 bytes");
            assert!(body.frame().await.is_none());
        }
    }
}
