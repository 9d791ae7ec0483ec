//! How requests are given to the HTTP layer, and what a single one may bring along.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpCallOptions, HttpRetryLayer, HttpRetryService, IntoReplay, OperationOptions, ReplayBody, presets,
};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tonic_gax::{CallOptions, Code, Note, OperationReport, RetrySettings, StartedAttempt, StopReason};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, MemoryConnector, ms};
use tower_service::Service;

type BoxError = Box<dyn Error + Send + Sync>;
type Memory = Client<MemoryConnector, ReplayBody>;

/// Three attempts of a second, 100 ms apart.
fn layer() -> HttpRetryLayer {
    let settings = RetrySettings::builder().jittered(false).initial_retry_delay(ms(100));
    let settings =
        settings.retry_delay_multiplier(1.0).initial_rpc_timeout(ms(1000)).max_attempts(3).build().unwrap();
    HttpRetryLayer::new(&settings, [Code::Unavailable, Code::DeadlineExceeded])
}

fn client(layer: &HttpRetryLayer, acts: Vec<HttpAct>) -> (FaultServer, HttpRetryService<Memory>) {
    let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
    (server, layer.layer(FaultServer::client(connector)))
}

fn unavailable(times: usize) -> Vec<HttpAct> {
    vec![HttpAct::status(503); times]
}

fn put<B>(body: B) -> http::Request<B> {
    http::Request::put("http://server/thing").body(body).unwrap()
}

/// Sends that body over an attempt that fails and one that succeeds; what came each time.
async fn arrived(body: impl IntoReplay<Body = ReplayBody>) -> Vec<Bytes> {
    let (server, client) = client(&layer(), unavailable(1));
    assert_eq!(client.send(put(body)).await.unwrap().status(), 200);
    server.arrivals().iter().map(|arrival| arrival.body.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn whatever_is_in_memory_is_sent_as_it_is() {
    assert_eq!(arrived(String::from("text")).await, ["text", "text"]);
    assert_eq!(arrived(b"vec".to_vec()).await, ["vec", "vec"]);
    assert_eq!(arrived(Bytes::from_static(b"bytes")).await, ["bytes", "bytes"]);
    assert_eq!(arrived("static").await, ["static", "static"]);
    assert_eq!(arrived(&b"slice"[..]).await, ["slice", "slice"]);
    assert_eq!(arrived(()).await, ["", ""]);
    assert_eq!(arrived(ReplayBody::from_bytes("body")).await, ["body", "body"]);
    let pieces = ["in ", "", "pieces"].map(Bytes::from);
    assert_eq!(arrived(ReplayBody::from_pieces(pieces)).await, ["in pieces", "in pieces"]);
}

/// A client of any kind of body is enough, and a shared reference to it.
#[tokio::test(start_paused = true)]
async fn requests_are_sent_without_a_trait() {
    let (server, connector) = FaultServer::in_memory(HttpScript::new(unavailable(1)));
    let client = layer().layer(FaultServer::full_client(connector));
    let (first, second) =
        tokio::join!(client.send(put(Full::from("a"))), client.send(put(Full::new(Bytes::from("b")))));
    assert_eq!(
        (first.unwrap().status(), second.unwrap().status()),
        (http::StatusCode::OK, http::StatusCode::OK)
    );
    assert_eq!(server.arrivals().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_report_is_there_if_it_tells_something_or_is_asked_for() {
    let asked = |request: http::Request<()>| {
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(CallOptions::new().report(true));
        http::Request::from_parts(parts, body)
    };
    let not_found = || vec![HttpAct::status(404)];
    for (layer, request, acts, attempts) in [
        (layer(), put(()), vec![], None),
        (layer(), put(()), unavailable(1), Some(2)),
        (layer(), put(()), not_found(), Some(1)),
        (layer().options(OperationOptions::new().reports(true)), put(()), vec![], Some(1)),
        (layer(), asked(put(())), vec![], Some(1)),
    ] {
        let (_server, client) = client(&layer, acts);
        let response = client.send(request).await.unwrap();
        assert_eq!(OperationReport::of(response.extensions()).map(OperationReport::attempt_count), attempts);
    }
}

#[tokio::test(start_paused = true)]
async fn one_request_has_limits_of_its_own() {
    let layer =
        layer().max_response_buffer(100).max_replay_bytes(3).options(OperationOptions::new().reports(true));
    let with = |options: Option<HttpCallOptions>| {
        let mut request = put("body");
        options.map(|options| request.extensions_mut().insert(options));
        request
    };
    let own = HttpCallOptions::new();
    for (options, attempts, notes) in [
        (None, 1, vec![Note::REQUEST_TOO_LARGE_TO_REPLAY]),
        (Some(own), 1, vec![Note::REQUEST_TOO_LARGE_TO_REPLAY]),
        (Some(own.max_replay_bytes(4)), 2, vec![]),
        (Some(own.without_replay_limit()), 2, vec![]),
        (Some(own.max_replay_bytes(4).max_response_buffer(0)), 2, vec![Note::RESPONSE_TOO_LARGE_TO_BUFFER]),
    ] {
        let (server, client) = client(&layer, unavailable(1));
        let response = client.send(with(options)).await.unwrap();
        let report = OperationReport::of(response.extensions()).unwrap();
        assert_eq!((server.arrivals().len(), report.notes()), (attempts, &*notes), "{options:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_request_may_wait_longer_or_shorter_for_bytes() {
    let slow = || vec![HttpAct::StallInBody(200); 3];
    let layer = layer().body_idle_timeout(ms(300));
    let own = HttpCallOptions::new();
    for (options, took) in [
        (None, 300 + 100 + 300 + 100 + 300),
        (Some(own.body_idle_timeout(ms(50))), 50 + 100 + 50 + 100 + 50),
        (Some(own.without_body_idle_timeout()), 1000 + 100 + 1000 + 100 + 1000),
    ] {
        let (_server, client) = client(&layer, slow());
        let mut request = put(());
        options.map(|options| request.extensions_mut().insert(options));
        let error = client.send(request).await.map(|response| response.status()).unwrap_err();
        assert_eq!(error.report().elapsed(), ms(took), "{options:?}");
    }
}

/// Off, there is one attempt; its timeout and its report stay.
#[tokio::test(start_paused = true)]
async fn retries_can_be_switched_off() {
    let storage = HttpRetryLayer::preset(&presets::storage()).attempt_timeout(ms(1000));
    for layer in [layer(), storage] {
        for (extension, acts, codes, ended) in [
            (None, unavailable(1), [Code::Unavailable], 0),
            (Some(CallOptions::new().max_attempts(5)), unavailable(1), [Code::Unavailable], 0),
            (None, vec![HttpAct::Stall], [Code::DeadlineExceeded], 1000),
        ] {
            let (server, client) =
                client(&layer.clone().options(OperationOptions::new().retries_enabled(false)), acts);
            let mut request = http::Request::get("http://server/thing").body(()).unwrap();
            extension.map(|options| request.extensions_mut().insert(options));
            let report = match client.send(request).await {
                Ok(response) => OperationReport::of(response.extensions()).unwrap().clone(),
                Err(error) => error.report().clone(),
            };
            assert_eq!(report.attempts().iter().map(gax_retry::Attempt::code).collect::<Vec<_>>(), codes);
            assert_eq!((report.stop_reason(), report.elapsed()), (Some(StopReason::MaxAttempts), ms(ended)));
            assert_eq!(server.arrivals().len(), 1);
        }
        let (_server, client) = client(
            &layer.options(OperationOptions::new().retries_enabled(false).retries_enabled(true)),
            vec![],
        );
        assert!(client.send(put(())).await.is_ok());
    }
}

/// A request's own settings, by the words that gRPC has.
#[tokio::test(start_paused = true)]
async fn one_request_changes_single_settings() {
    let layer = layer().options(OperationOptions::new().reports(true));
    let own = CallOptions::new;
    for (options, starts) in [
        (own(), vec![0, 100, 200]),
        (own().without_retries(), vec![0]),
        (own().max_attempts(2), vec![0, 100]),
        (own().without_max_attempts().timeout(ms(350)), vec![0, 100, 200, 300]),
        (own().initial_retry_delay(ms(30)).retry_delay_multiplier(2.0), vec![0, 30, 90]),
    ] {
        let (server, client) = client(&layer, unavailable(9));
        let mut request = http::Request::get("http://server/thing").body(()).unwrap();
        request.extensions_mut().insert(options.clone());
        assert_eq!(client.send(request).await.unwrap().status(), 503);
        assert_eq!(server.times(), starts, "{options:?}");
    }
}

/// Writes down which attempt a request says it is of.
#[derive(Debug, Clone)]
struct Numbered {
    inner: Memory,
    seen: Arc<Mutex<Vec<Option<u32>>>>,
}

impl Service<http::Request<ReplayBody>> for Numbered {
    type Response = <Memory as Service<http::Request<ReplayBody>>>::Response;
    type Error = <Memory as Service<http::Request<ReplayBody>>>::Error;
    type Future = <Memory as Service<http::Request<ReplayBody>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<ReplayBody>) -> Self::Future {
        let number = request.extensions().get::<StartedAttempt>().map(|attempt| attempt.number());
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(number);
        Service::call(&mut self.inner, request)
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_below_the_layer_knows_the_attempt() {
    let (_server, connector) = FaultServer::in_memory(HttpScript::new(unavailable(2)));
    let numbered = Numbered { inner: FaultServer::client(connector), seen: Arc::default() };
    let seen = Arc::clone(&numbered.seen);
    let client = layer().layer(numbered);
    assert_eq!(client.send(put(())).await.unwrap().status(), 200);
    assert_eq!(*seen.lock().unwrap(), [None, Some(2), Some(3)]);
}

#[tokio::test(start_paused = true)]
async fn a_body_is_opened_anew_for_each_attempt_on_its_time() {
    let opened = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&opened);
    let body = ReplayBody::from_async_fn(move || {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            // The first one takes longer than an attempt may.
            tokio::time::sleep(ms(if number == 1 { 5000 } else { 10 })).await;
            Ok::<_, io::Error>(Full::new(Bytes::from(format!("opened {number}"))))
        }
    });
    let (server, client) = client(&layer(), unavailable(1));
    let response = client.send(put(body)).await.unwrap();
    assert_eq!((response.status().as_u16(), opened.load(Ordering::SeqCst)), (200, 3));
    let bodies: Vec<_> = server.arrivals().iter().map(|arrival| arrival.body.clone()).collect();
    assert_eq!(bodies, ["opened 2", "opened 3"]);
    assert_eq!(server.times(), [1000 + 100 + 10, 1110 + 100 + 10]);
    let lengths: Vec<_> =
        server.arrivals().iter().map(|arrival| arrival.header("content-length").map(str::to_owned)).collect();
    assert_eq!(lengths, [Some("8".to_owned()), Some("8".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_be_opened_ends_the_operation_and_nothing_is_sent() {
    let opened = AtomicU32::new(0);
    let body = ReplayBody::from_async_fn(move || {
        let is_first = opened.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if is_first {
                Ok(Full::new(Bytes::from("first")))
            } else {
                Err(io::Error::other("the disk is gone"))
            }
        }
    });
    let (server, client) = client(&layer(), unavailable(3));
    let error = client.send(put(body)).await.map(|response| response.status()).unwrap_err();
    assert_eq!(server.arrivals().len(), 1);
    assert_eq!((error.code(), error.stop_reason()), (Code::Unknown, Some(StopReason::NonRetryable)));
    assert_eq!((error.failure(), error.last_status()), (None, Some(503)));
    assert_eq!(error.source().unwrap().to_string(), "the disk is gone");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_while_it_is_read_is_final() {
    let body = ReplayBody::from_async_fn(|| async {
        let broken = io::Error::other("half of it is missing");
        let frames = vec![Ok(http_body::Frame::data(Bytes::from("half"))), Err(broken)];
        Ok::<_, BoxError>(http_body_util::StreamBody::new(tokio_stream::iter(frames)))
    });
    let (_server, client) = client(&layer(), vec![]);
    let error = client.send(put(body)).await.map(|response| response.status()).unwrap_err();
    assert_eq!((error.report().attempt_count(), error.failure()), (1, None));
}

/// The part of a response that was read ahead goes to its reader.
#[tokio::test(start_paused = true)]
async fn a_response_that_is_handed_on_early_is_whole() {
    let (_server, client) = client(&layer(), vec![HttpAct::status(200).with_body("content")]);
    let mut request = http::Request::get("http://server/thing").body(()).unwrap();
    request.extensions_mut().insert(HttpCallOptions::new().max_response_buffer(0));
    let response = client.send(request).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "content");
}

fn is_send<T: Send>(_: &T) {}

#[tokio::test]
async fn futures_can_be_spawned() {
    let (_server, client) = client(&layer(), vec![]);
    is_send(&client.send(put(())));
    is_send(
        &client
            .send(put(ReplayBody::from_async_fn(|| async { Ok::<_, io::Error>(Full::<Bytes>::default()) }))),
    );
}
