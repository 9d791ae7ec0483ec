//! The HTTP layer over a scripted server, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpError, HttpFailure, HttpReport, HttpResponseBody, HttpRetryLayer, IdempotencyStrategy, ReplayBody,
    TransportFailure, note, presets,
};
use http_body_util::{BodyExt as _, Full};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tonic_gax::{
    CallOptions, Code, Compatibility, Note, OperationOptions, OperationReport, RetrySettings, StopReason,
};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, codes, delays, ms};
use tower_layer::Layer as _;
use tower_service::Service;

/// Attempts of a second, 100 ms x 2 up to 300 ms apart, ten seconds in all.
fn settings() -> RetrySettings {
    delays(100, 2.0)
        .max_retry_delay(ms(300))
        .initial_rpc_timeout(ms(1000))
        .max_rpc_timeout(ms(1000))
        .total_timeout(ms(10_000))
        .build()
        .unwrap()
}

fn layer() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [Code::Unavailable, Code::DeadlineExceeded, Code::ResourceExhausted])
        .options(OperationOptions::new().reports(true))
}

fn get() -> http::Request<Full<Bytes>> {
    http::Request::get("http://server/thing").body(Full::default()).unwrap()
}

/// The reply of a server, and what the operation did.
struct Seen {
    status: u16,
    body: Result<Bytes, String>,
    report: OperationReport,
    server: FaultServer,
}

async fn read<B>(response: http::Response<HttpResponseBody<B>>, server: FaultServer) -> Seen
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let status = response.status().as_u16();
    let report = response.extensions().get::<OperationReport>().unwrap().clone();
    let body = response.into_body().collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).map_err(|error| error.to_string());
    Seen { status, body, report, server }
}

async fn sent(
    layer: &HttpRetryLayer,
    acts: impl IntoIterator<Item = HttpAct>,
    request: http::Request<Full<Bytes>>,
) -> Seen {
    let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
    let response = layer.layer(FaultServer::full_client(connector)).call(request).await.unwrap();
    read(response, server).await
}

async fn failed(
    layer: &HttpRetryLayer,
    script: HttpScript,
    request: http::Request<Full<Bytes>>,
) -> (HttpError, FaultServer) {
    let (server, connector) = FaultServer::in_memory(script);
    let result = layer.layer(FaultServer::full_client(connector)).call(request).await;
    (result.map(|response| response.status()).unwrap_err(), server)
}

/// When the attempts started and ended.
fn times(report: &OperationReport) -> Vec<(u128, u128)> {
    report.attempts().iter().map(|row| (row.start().as_millis(), row.end().as_millis())).collect()
}

#[tokio::test(start_paused = true)]
async fn replies_are_retried_until_one_is_good() {
    let acts = [HttpAct::status(503), HttpAct::status(504), HttpAct::status(429), HttpAct::status(503)];
    let seen = sent(&layer(), acts, get()).await;
    assert_eq!((seen.status, seen.body.unwrap()), (200, Bytes::from_static(br#"{"status":200}"#)));
    assert_eq!(seen.server.times(), [0, 100, 300, 600, 900]);
    let expected =
        [Code::Unavailable, Code::DeadlineExceeded, Code::ResourceExhausted, Code::Unavailable, Code::Ok];
    assert_eq!(codes(&seen.report), expected);
    assert_eq!(seen.report.stop_reason(), None);
    assert_eq!(seen.report.method(), "GET /thing");
    let failures: Vec<_> = [503, 504, 429, 503].map(HttpFailure::Status).into();
    assert_eq!(seen.report.detail::<HttpReport>().unwrap().failures(), failures);
}

#[tokio::test(start_paused = true)]
async fn one_attempt_has_its_report_too() {
    let seen = sent(&layer(), [], get()).await;
    assert_eq!(codes(&seen.report), [Code::Ok]);
    assert_eq!(
        seen.report.detail::<HttpReport>().map(HttpReport::idempotency).unwrap().to_string(),
        "always"
    );
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_final_is_the_response_with_its_reason() {
    let seen = sent(&layer(), [HttpAct::status(404).with_body("no such thing")], get()).await;
    assert_eq!((seen.status, seen.body.unwrap()), (404, Bytes::from_static(b"no such thing")));
    assert_eq!(codes(&seen.report), [Code::NotFound]);
    assert_eq!(seen.report.stop_reason(), Some(StopReason::NonRetryable));
}

#[tokio::test(start_paused = true)]
async fn the_last_reply_stays_when_the_limits_are_reached() {
    let twice = settings().to_builder().max_attempts(2).build().unwrap();
    let twice =
        HttpRetryLayer::new(&twice, [Code::Unavailable]).options(OperationOptions::new().reports(true));
    let seen = sent(&twice, vec![HttpAct::status(503); 9], get()).await;
    assert_eq!((seen.status, seen.server.times()), (503, vec![0, 100]));
    assert_eq!(seen.report.stop_reason(), Some(StopReason::MaxAttempts));

    let short = settings().to_builder().total_timeout(ms(1000)).build().unwrap();
    let short =
        HttpRetryLayer::new(&short, [Code::Unavailable]).options(OperationOptions::new().reports(true));
    let seen = sent(&short, vec![HttpAct::status(503); 9], get()).await;
    assert_eq!((seen.status, seen.server.times()), (503, vec![0, 100, 300, 600, 900]));
    assert_eq!(seen.report.stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!(seen.report.not_attempted().unwrap().delay(), ms(300));
}

#[tokio::test(start_paused = true)]
async fn broken_replies_are_retried_each_by_its_kind() {
    let acts = [HttpAct::Reset, HttpAct::Truncate, HttpAct::Stall, HttpAct::StallInBody(200)];
    let seen = sent(&layer(), acts, get()).await;
    assert_eq!(seen.status, 200);
    assert_eq!(times(&seen.report), [(0, 0), (100, 100), (300, 1300), (1600, 2600), (2900, 2900)]);
    let failures = [
        TransportFailure::Reset,
        TransportFailure::Truncated,
        TransportFailure::Timeout,
        TransportFailure::Timeout,
    ];
    assert_eq!(seen.report.detail::<HttpReport>().unwrap().failures(), failures.map(HttpFailure::Transport));
    let expected =
        [Code::Unavailable, Code::Unavailable, Code::DeadlineExceeded, Code::DeadlineExceeded, Code::Ok];
    assert_eq!(codes(&seen.report), expected);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_hangs_gives_its_connection_up() {
    let (server, connector) =
        FaultServer::in_memory(HttpScript::new([HttpAct::Stall, HttpAct::StallInBody(200)]));
    let mut client = layer().layer(FaultServer::full_client(connector));
    drop(client.call(get()).await.unwrap());
    tokio::task::yield_now().await;
    assert_eq!((server.arrivals().len(), server.connections()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_is_unavailable() {
    let (server, connector) = FaultServer::in_memory(HttpScript::default());
    connector.refuse(3);
    let mut client = layer().layer(FaultServer::full_client(connector.clone()));
    let seen = read(client.call(get()).await.unwrap(), server.clone()).await;
    assert_eq!(codes(&seen.report), [Code::Unavailable, Code::Unavailable, Code::Unavailable, Code::Ok]);
    assert_eq!(seen.server.times(), [600]);

    connector.refuse(1000);
    let mut other = layer().layer(FaultServer::full_client(connector));
    let error = other.call(get()).await.unwrap_err();
    assert_eq!(error.failure(), Some(TransportFailure::Connect));
    assert_eq!((error.code(), error.stop_reason()), (Code::Unavailable, Some(StopReason::TotalTimeout)));
    assert_eq!(
        error.to_string(),
        "GET /thing failed after 35 attempts in 9.9 s (TOTAL_TIMEOUT): no connection could be made"
    );
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test(start_paused = true)]
async fn an_error_tells_the_last_reply_that_came() {
    let twice = settings().to_builder().max_attempts(2).build().unwrap();
    let (error, _) = failed(
        &HttpRetryLayer::new(&twice, [Code::Unavailable]).options(OperationOptions::new().reports(true)),
        HttpScript::new([HttpAct::status(503), HttpAct::Stall]),
        get(),
    )
    .await;
    assert_eq!(
        error.to_string(),
        "GET /thing failed after 2 attempts in 1.1 s (NON_RETRYABLE): the last attempt timed out after 1 s; \
         the last response had status 503"
    );
    assert_eq!(error.last_status(), Some(503));
}

#[tokio::test(start_paused = true)]
async fn back_off_comes_on_top_of_retry_after() {
    let asking = |value: &str| HttpAct::status(429).with_header("retry-after", value);
    let dated = |value: &str| asking(value).with_header("date", "Sat, 21 Nov 2026 09:00:00 GMT");
    for (act, wait) in [
        (asking("2"), 2100),
        (asking("0"), 100),
        (asking("1.2"), 2100),
        (asking("2").with_header("retry-after", "soon").with_header("retry-after", "3"), 3100),
        (asking("Sat, 21 Nov 2020 09:00:00 GMT").with_header("date", "7"), 100),
        (asking("soon"), 100),
        (asking("-1"), 100),
        (asking("Sat, 21 Nov 2020 09:00:00 GMT"), 100),
        (dated("Sat, 21 Nov 2026 09:00:03 GMT"), 3100),
        (dated("Saturday, 21-Nov-26 09:00:03 GMT"), 3100),
        (dated("Sat, 21 Nov 2026 08:59:00 GMT"), 100),
    ] {
        let seen = sent(&layer(), [act.clone()], get()).await;
        assert_eq!(seen.server.times(), [0, wait], "{act:?}");
    }
    let off = layer().options(OperationOptions::new().server_delays(false));
    assert_eq!(sent(&off, [asking("2")], get()).await.server.times(), [0, 100]);
    let twice = sent(&layer(), [asking("2"), HttpAct::status(503)], get()).await;
    assert_eq!(twice.server.times(), [0, 2100, 2300]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_beyond_the_budget_ends_the_operation_at_once() {
    for value in ["10", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        let act = HttpAct::status(503).with_header("retry-after", value);
        let seen = sent(&layer(), [act], get()).await;
        assert_eq!((seen.status, seen.server.times()), (503, vec![0]), "{value}");
        assert_eq!(seen.report.stop_reason(), Some(StopReason::ServerDelayExceedsTotalTimeout));
        assert_eq!(seen.server.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn statuses_decide_in_place_of_codes() {
    let only = layer().retryable_statuses([408, 500]);
    let seen = sent(&only, [HttpAct::status(408), HttpAct::status(500), HttpAct::status(503)], get()).await;
    assert_eq!((seen.status, seen.report.attempts().len()), (503, 3));
    assert_eq!(codes(&seen.report), [Code::FailedPrecondition, Code::Internal, Code::Unavailable]);
    let by_code = HttpRetryLayer::new(&settings(), [Code::FailedPrecondition])
        .options(OperationOptions::new().reports(true));
    assert_eq!(sent(&by_code, [HttpAct::status(408)], get()).await.report.attempts().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn redirects_and_the_like_are_no_success() {
    for status in [301, 304, 308] {
        let seen = sent(&layer(), [HttpAct::status(status)], get()).await;
        assert_eq!((seen.status, codes(&seen.report)), (status, vec![Code::Unknown]));
        assert_eq!(seen.report.stop_reason(), Some(StopReason::NonRetryable));
    }
    for status in [201, 204, 206, 299] {
        let seen = sent(&layer(), [HttpAct::status(status).with_body("")], get()).await;
        assert_eq!((seen.status, seen.report.stop_reason()), (status, None));
    }
}

#[tokio::test(start_paused = true)]
async fn by_gax_javas_rules_what_the_transport_throws_is_unknown_and_final() {
    let codes_with_unknown = [Code::Unavailable, Code::Unknown, Code::DeadlineExceeded];
    let java = HttpRetryLayer::new(&settings(), codes_with_unknown)
        .options(OperationOptions::new().reports(true).compatibility(Compatibility::GaxJava));
    let (error, server) = failed(&java, HttpScript::new([HttpAct::Reset]), get()).await;
    assert_eq!((error.code(), error.stop_reason()), (Code::Unknown, Some(StopReason::NonRetryable)));
    assert_eq!(server.times(), [0]);
    // It retries by code alone.
    let post = http::Request::post("http://server/thing").body(Full::default()).unwrap();
    let seen = sent(&java, [HttpAct::status(503)], post).await;
    assert_eq!(seen.report.attempts().len(), 2);
    let documented =
        HttpRetryLayer::new(&settings(), codes_with_unknown).options(OperationOptions::new().reports(true));
    let post = http::Request::post("http://server/thing").body(Full::default()).unwrap();
    let seen = sent(&documented, [HttpAct::status(503)], post).await;
    assert_eq!((seen.status, seen.report.attempts().len()), (503, 1));
    assert_eq!(seen.report.detail::<HttpReport>().map(HttpReport::idempotency).unwrap().to_string(), "never");
}

#[tokio::test(start_paused = true)]
async fn a_call_brings_its_own_options() {
    let with = |options: CallOptions| {
        let mut request = get();
        request.extensions_mut().insert(options);
        request
    };
    let (error, _) =
        failed(&layer(), HttpScript::always(HttpAct::Stall), with(CallOptions::new().timeout(ms(2500))))
            .await;
    assert_eq!(times(error.report()), [(0, 1000), (1100, 2100), (2300, 2500)]);
    let (error, _) = failed(
        &layer(),
        HttpScript::always(HttpAct::Stall),
        with(CallOptions::new().attempt_timeout(ms(400)).timeout(ms(1000))),
    )
    .await;
    assert_eq!(times(error.report()), [(0, 400), (500, 900)]);
    let seen = sent(
        &HttpRetryLayer::preset(&presets::storage().with_host("server"))
            .options(OperationOptions::new().reports(true)),
        [HttpAct::status(404)],
        with(CallOptions::new().retryable_codes([Code::NotFound]).retry_settings(settings())),
    )
    .await;
    assert_eq!(seen.server.times(), [0, 100]);
    let mut never = get();
    never.extensions_mut().insert(IdempotencyStrategy::Never);
    assert_eq!(sent(&layer(), [HttpAct::status(503)], never).await.status, 503);
    let mut preset = get();
    preset.extensions_mut().insert(presets::csharp());
    let seen = sent(&layer(), vec![HttpAct::status(408); 9], preset).await;
    assert_eq!((seen.status, seen.server.times()), (408, vec![0, 1000, 3000]));
}

#[tokio::test(start_paused = true)]
async fn a_preset_takes_a_timeout_for_its_attempts() {
    let docs = HttpRetryLayer::preset(&presets::csharp())
        .options(OperationOptions::new().reports(true))
        .attempt_timeout(ms(250));
    let seen = sent(
        &docs,
        [HttpAct::Stall],
        http::Request::get("http://s/storage/v1/b").body(Full::default()).unwrap(),
    )
    .await;
    assert_eq!(times(&seen.report), [(0, 250), (1250, 1250)]);
}

#[tokio::test(start_paused = true)]
async fn a_response_longer_than_the_buffer_is_handed_on() {
    let long = HttpAct::status(200).with_body("a".repeat(100_000));
    let narrow = layer().max_response_buffer(1000);
    let seen = sent(&narrow, [long.clone()], get()).await;
    assert_eq!(seen.body.unwrap().len(), 100_000);
    assert_eq!(seen.report.notes(), [Note::RESPONSE_TOO_LARGE_TO_BUFFER]);
    let whole = sent(&layer(), [long], get()).await;
    assert_eq!((whole.body.unwrap().len(), whole.report.notes()), (100_000, &[][..]));

    let cut = sent(&layer().max_response_buffer(3), [HttpAct::Truncate], get()).await;
    assert!(cut.body.is_err());
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_sent_alike() {
    let request = http::Request::put("http://server/thing?a=%20b")
        .header("x-retry-test-id", "x/1")
        .header("x-many", "1")
        .header("x-many", "2")
        .body(Full::new(Bytes::from_static(b"content")))
        .unwrap();
    let seen = sent(&layer(), [HttpAct::Reset, HttpAct::status(503)], request).await;
    let arrivals = seen.server.arrivals();
    assert_eq!(arrivals.len(), 3);
    for arrival in &arrivals {
        assert_eq!((&*arrival.method, &*arrival.target), ("PUT", "/thing?a=%20b"));
        assert_eq!(arrival.header("x-retry-test-id"), Some("x/1"));
        assert_eq!(arrival.headers.get_all("x-many").iter().count(), 2);
        assert_eq!(arrival.header("content-length"), Some("7"));
        assert_eq!(arrival.body, "content");
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_post_says_that_it_is_empty() {
    for (method, length) in [("POST", Some("0")), ("PATCH", Some("0")), ("GET", None), ("DELETE", None)] {
        let request = http::Request::builder().method(method).uri("http://server/thing");
        let seen = sent(&layer(), [], request.body(Full::default()).unwrap()).await;
        assert_eq!(seen.server.arrivals()[0].header("content-length"), length, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn streams_are_opened_anew_or_sent_once() {
    let script = HttpScript::new([HttpAct::Reset, HttpAct::status(503)]);
    let (server, connector) = FaultServer::in_memory(script.clone());
    let mut client = layer().layer(FaultServer::client::<ReplayBody>(connector.clone()));
    let opened = Arc::new(AtomicU32::new(0));
    let counting = Arc::clone(&opened);
    let body = ReplayBody::from_fn(move || {
        let number = counting.fetch_add(1, Ordering::SeqCst);
        Full::new(Bytes::from(format!("stream {number}")))
    });
    let put = |body| http::Request::put("http://server/thing").body(body).unwrap();
    let seen = read(client.call(put(body)).await.unwrap(), server).await;
    assert_eq!((seen.status, opened.load(Ordering::SeqCst)), (200, 3));
    let bodies: Vec<_> = seen.server.arrivals().into_iter().map(|arrival| arrival.body).collect();
    assert_eq!(bodies, ["stream 0", "stream 1", "stream 2"]);

    let (server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::status(503)]));
    let mut client = layer().layer(FaultServer::client::<ReplayBody>(connector));
    let once = ReplayBody::once(Full::new(Bytes::from_static(b"once")));
    let seen = read(client.call(put(once)).await.unwrap(), server).await;
    assert_eq!((seen.status, seen.report.stop_reason()), (503, Some(StopReason::NotReplayable)));
    assert_eq!(seen.report.notes(), [Note::REQUEST_IS_A_STREAM]);
    assert_eq!(seen.server.arrivals()[0].body, "once");
}

#[tokio::test(start_paused = true)]
async fn what_is_too_long_to_keep_is_sent_once() {
    let narrow = layer().max_replay_bytes(4);
    let put = |text: &'static str| {
        http::Request::put("http://server/thing")
            .body(Full::new(Bytes::from_static(text.as_bytes())))
            .unwrap()
    };
    let seen = sent(&narrow, [HttpAct::status(503)], put("12345")).await;
    assert_eq!((seen.status, seen.report.stop_reason()), (503, Some(StopReason::NotReplayable)));
    assert_eq!(seen.report.notes(), [Note::REQUEST_TOO_LARGE_TO_REPLAY]);
    assert_eq!(sent(&narrow, [HttpAct::status(503)], put("1234")).await.status, 200);
    let wide = narrow.clone().without_replay_limit();
    assert_eq!(sent(&wide, [HttpAct::status(503)], put("12345")).await.status, 200);
    let none = narrow.max_replay_bytes(0);
    assert_eq!(sent(&none, [HttpAct::status(503)], put("1")).await.status, 503);
    assert_eq!(sent(&none, [HttpAct::status(503)], put("")).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_fails_by_itself_is_no_reason_to_try_again() {
    let failing = || {
        http_body_util::StreamBody::new(tokio_stream::iter([
            Ok(http_body::Frame::data(Bytes::from_static(b"part"))),
            Err(std::io::Error::other("the file is gone")),
        ]))
    };
    let (_server, connector) = FaultServer::in_memory(HttpScript::default());
    let mut client = layer().layer(FaultServer::client::<ReplayBody>(connector));
    let request = http::Request::put("http://server/thing").body(ReplayBody::from_fn(failing)).unwrap();
    let error = client.call(request).await.unwrap_err();
    assert_eq!((error.failure(), error.code()), (None, Code::Unknown));
    assert_eq!(error.report().attempts().len(), 1);
    assert!(error.to_string().ends_with("(NON_RETRYABLE): the request can't be sent"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn to_drop_a_call_stops_it() {
    let (server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::Stall, HttpAct::status(503)]));
    let mut client = layer().layer(FaultServer::full_client(connector));
    let hanging = tokio::time::timeout(ms(500), client.call(get())).await;
    assert!(hanging.is_err());
    tokio::time::timeout(ms(3600), std::future::pending::<()>()).await.unwrap_err();
    assert_eq!((server.times(), server.connections()), (vec![0], 0));

    let waiting = tokio::time::timeout(ms(50), client.call(get())).await;
    assert!(waiting.is_err());
    tokio::time::timeout(ms(3600), std::future::pending::<()>()).await.unwrap_err();
    assert_eq!(server.arrivals().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_seed_repeats_the_waits() {
    let jittered = settings().to_builder().jittered(true).build().unwrap();
    let layer = || {
        HttpRetryLayer::new(&jittered, [Code::Unavailable])
            .options(OperationOptions::new().reports(true).jitter_seed(7))
    };
    let acts = || vec![HttpAct::status(503); 4];
    let first = sent(&layer(), acts(), get()).await.server.times();
    assert_eq!(sent(&layer(), acts(), get()).await.server.times(), first);
    assert_ne!(first, [0, 100, 300, 600, 900]);
}

#[tokio::test(start_paused = true)]
async fn a_report_prints_why() {
    let request = http::Request::delete("http://server/storage/v1/b/x/o/y").body(Full::default()).unwrap();
    let seen = sent(
        &HttpRetryLayer::preset(&presets::storage().with_host("server"))
            .options(OperationOptions::new().reports(true)),
        [HttpAct::status(503)],
        request,
    )
    .await;
    let text = seen.report.to_string();
    let why = "idempotency conditional: ifGenerationMatch or generation missing (storage.objects.delete); \
               strategy conditional: must not be sent again; failed with status 503";
    assert!(text.contains(why), "{text}");
    assert!(
        text.starts_with("DELETE /storage/v1/b/x/o/y failed after 1 attempt in 0 ms (NON_RETRYABLE)\n"),
        "{text}"
    );
    // Several failures, and a path of Cloud Storage at a host that its rules don't know.
    let request = http::Request::delete("http://server/storage/v1/b/x/o/y").body(Full::default()).unwrap();
    let acts = [503, 503, 429].map(HttpAct::status);
    let seen = sent(
        &HttpRetryLayer::preset(&presets::storage()).options(OperationOptions::new().reports(true)),
        acts,
        request,
    )
    .await;
    let text = seen.report.to_string();
    let why = "strategy conditional: may be sent again; failed with status 503 (2 times), status 429";
    assert!(text.contains(why), "{text}");
    assert_eq!(seen.report.notes(), [note::STORAGE_HOST_NOT_NAMED]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_request_being_served_bounds_the_call() {
    let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Stall));
    let client = layer().layer(FaultServer::full_client(connector));
    let handler = tower::service_fn(move |_: http::Request<Full<Bytes>>| {
        let mut client = client.clone();
        async move {
            let error = client.call(get()).await.unwrap_err();
            assert_eq!(times(error.report()), [(0, 1000), (1100, 1700)]);
            assert_eq!(error.stop_reason(), Some(StopReason::TotalTimeout));
            Ok::<_, std::convert::Infallible>(http::Response::new(Full::<Bytes>::default()))
        }
    });
    let mut request = get();
    request.headers_mut().insert("grpc-timeout", http::HeaderValue::from_static("1700m"));
    tonic_gax::DeadlineLayer::new().layer(handler).call(request).await.unwrap();
    assert_eq!(server.times(), [0, 1100]);
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_spawned_whatever_its_body() {
    let (_server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::status(503)]));
    let mut client = layer().layer(FaultServer::client::<ReplayBody>(connector));
    let request = http::Request::put("http://server/thing").body(ReplayBody::from("content")).unwrap();
    let response = tokio::spawn(client.call(request)).await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    let body = tokio::spawn(response.into_body().collect()).await.unwrap().unwrap();
    assert_eq!(body.to_bytes(), r#"{"status":200}"#);
}

#[tokio::test(start_paused = true)]
async fn without_any_time_nothing_is_sent() {
    let mut request = get();
    request.extensions_mut().insert(CallOptions::new().timeout(Duration::ZERO));
    let (error, server) = failed(&layer(), HttpScript::default(), request).await;
    assert_eq!((error.stop_reason(), server.arrivals().len()), (Some(StopReason::TotalTimeout), 0));
    assert_eq!((error.code(), error.failure()), (Code::DeadlineExceeded, Some(TransportFailure::Timeout)));
    assert_eq!(
        error.to_string(),
        "GET /thing failed after 0 attempts in 0 ms (TOTAL_TIMEOUT): there was no time for an attempt"
    );
}
