//! HTTP responses that can't be read: another attempt would get the same.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpError, HttpFailure, HttpReport, HttpRetryLayer, OperationOptions, ReplayBody, ReqwestService,
    TransportFailure, presets,
};
use gax_retry::Attempt;
use http_body_util::Full;
use tonic_gax::{Code, Compatibility, Note, OperationReport, StopReason};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, RawFrame, RawServer, failed, http2_client, ms, settings,
};
use tower_service::Service;

/// Whatever can be retried is, attempts of a second, 200 ms apart.
fn layer() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [Code::Unavailable, Code::Internal, Code::Unknown])
        .options(OperationOptions::new().reports(true))
}

/// It ended with its first attempt, at that millisecond.
fn check(error: &HttpError, end: u64, context: &str) {
    let report = error.report();
    let unreadable = [HttpFailure::Transport(TransportFailure::Unreadable)];
    assert_eq!(report.detail::<HttpReport>().unwrap().failures(), unreadable, "{context}: {error}");
    assert_eq!(
        report.attempts().iter().map(Attempt::code).collect::<Vec<_>>(),
        [Code::Internal],
        "{context}"
    );
    assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{context}");
    assert_eq!(report.notes(), [Note::UNREADABLE_RESPONSE], "{context}");
    assert_eq!(report.elapsed(), ms(end), "{context}");
    assert_eq!((error.code(), error.failure()), (Code::Internal, Some(TransportFailure::Unreadable)));
}

const URL: &str = "http://server/thing";

#[tokio::test(start_paused = true)]
async fn over_http1() {
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "a".repeat(1_000_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x-many: a\r\n".repeat(1000));
    for reply in [
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        // An alert of a server that speaks TLS.
        "\x15\x03\x01\x00\x02\x02\x16",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno size\r\n",
        &long,
        &many,
    ] {
        let context = reply.chars().take(60).collect::<String>();
        let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Raw(reply.into())));
        let error = failed(&mut layer().layer(FaultServer::full_client(connector)), URL).await;
        check(&error, 0, &context);
        assert_eq!(server.arrivals().len(), 1, "{context}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_message_says_why() {
    let (_server, connector) =
        FaultServer::in_memory(HttpScript::always(HttpAct::Raw(b"HTTP/1.1 2x0 OK\r\n\r\n".to_vec())));
    let error = failed(&mut layer().layer(FaultServer::full_client(connector)), URL).await;
    assert_eq!(
        error.to_string(),
        "GET /thing failed after 1 attempt in 0 ms (NON_RETRYABLE): the response can't be read: invalid HTTP \
         status-code parsed"
    );
}

#[tokio::test(start_paused = true)]
async fn over_http2() {
    for play in [vec![RawFrame::LongHeaders], vec![RawFrame::Headers, RawFrame::LongHeaders]] {
        let server = RawServer::start([play.clone()]);
        let error = failed(&mut layer().layer(http2_client::<Full<Bytes>>(server.connector())), URL).await;
        check(&error, 0, &format!("{play:?}"));
        assert_eq!(server.requests(), [1], "{play:?}");
    }
}

/// Others may have shared the connection: nobody is blamed for it.
#[tokio::test(start_paused = true)]
async fn a_response_that_costs_the_connection_is_retried() {
    let wait = RawFrame::Wait(ms(30));
    for play in [
        vec![wait, RawFrame::Garbage],
        vec![wait, RawFrame::ContinuationFlood],
        // The garbage comes where the body should.
        vec![RawFrame::Headers, wait, RawFrame::Garbage],
    ] {
        let server = RawServer::start([play.clone(), play.clone(), play.clone()]);
        let request = http::Request::get(URL).body(Full::<Bytes>::default()).unwrap();
        let response = layer().layer(http2_client(server.connector())).call(request).await.unwrap();
        let report = OperationReport::of(response.extensions()).unwrap();
        let codes: Vec<_> = report.attempts().iter().map(Attempt::code).collect();
        assert_eq!(codes, [Code::Unavailable, Code::Unavailable, Code::Unavailable, Code::Ok], "{play:?}");
        assert_eq!(server.requests(), [1, 2, 3, 4], "{play:?}");
    }
}

/// The status had come before.
#[tokio::test(start_paused = true)]
async fn a_status_stands_whatever_comes_instead_of_its_body() {
    let server =
        RawServer::start([vec![RawFrame::HttpStatus(503), RawFrame::Wait(ms(30)), RawFrame::Garbage]]);
    let request = http::Request::get(URL).body(Full::<Bytes>::default()).unwrap();
    let response = layer().layer(http2_client(server.connector())).call(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let report = OperationReport::of(response.extensions()).unwrap();
    assert_eq!(report.detail::<HttpReport>().unwrap().failures(), [HttpFailure::Status(503)]);
    assert_eq!(
        report.attempts().iter().map(Attempt::code).collect::<Vec<_>>(),
        [Code::Unavailable, Code::Ok]
    );
    assert_eq!(report.notes(), []);
    assert_eq!(server.requests(), [1, 2]);
    assert_eq!(server.times(), [ms(0), ms(200)]);
}

/// Nobody knows whose response it was.
#[tokio::test(start_paused = true)]
async fn requests_that_die_together_with_a_connection_that_we_closed_are_unavailable() {
    for last in [RawFrame::Garbage, RawFrame::ContinuationFlood] {
        let server = RawServer::start([vec![], vec![RawFrame::Headers], vec![last]]);
        let client = layer().layer(http2_client(server.connector()));
        let requests = [0, 1, 2].map(|turn| {
            let mut client = client.clone();
            tokio::spawn(async move {
                tokio::time::sleep(ms(turn)).await;
                client.call(http::Request::get(URL).body(Full::<Bytes>::default()).unwrap()).await
            })
        });
        for request in requests {
            assert_eq!(request.await.unwrap().unwrap().status(), 200, "{last:?}");
        }
        assert_eq!(server.requests(), [1, 1, 1, 2, 2, 2], "{last:?}");
    }
}

#[tokio::test]
async fn what_does_not_unpack() {
    // No header of gzip, and one before data that can't be decompressed.
    let header = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    for body in [b"no gzip at all".to_vec(), [&header[..], &[0xff; 20]].concat()] {
        let garbage = HttpAct::status(200).with_header("content-encoding", "gzip").with_body(body);
        let (server, url) = FaultServer::on_socket(HttpScript::always(garbage)).await;
        let mut client = layer().layer(ReqwestService::new(reqwest::Client::new()));
        let error = failed::<_, ReplayBody>(&mut client, &url).await;
        assert_eq!(
            (error.code(), error.failure()),
            (Code::Internal, Some(TransportFailure::Unreadable)),
            "{error}"
        );
        assert_eq!(error.stop_reason(), Some(StopReason::NonRetryable));
        assert_eq!(server.arrivals().len(), 1);
    }
}

/// Neither does a preset, whatever its library would do.
#[tokio::test(start_paused = true)]
async fn no_preset_retries_it() {
    for preset in presets::all() {
        let garbage = HttpAct::Raw(b"garbage\r\n\r\n".to_vec());
        let (server, connector) = FaultServer::in_memory(HttpScript::always(garbage));
        let mut client = HttpRetryLayer::preset(&preset)
            .options(OperationOptions::new().reports(true))
            .layer(FaultServer::full_client(connector));
        let error = failed(&mut client, URL).await;
        assert_eq!(error.code(), Code::Internal, "{}", preset.name());
        assert_eq!(server.arrivals().len(), 1, "{}", preset.name());
    }
}

#[tokio::test(start_paused = true)]
async fn by_gax_javas_rules_it_is_unknown() {
    let garbage = HttpAct::Raw(b"garbage\r\n\r\n".to_vec());
    let (_server, connector) = FaultServer::in_memory(HttpScript::always(garbage));
    let java = layer().options(OperationOptions::new().compatibility(Compatibility::GaxJava));
    let error = failed(&mut java.layer(FaultServer::full_client(connector)), URL).await;
    assert_eq!((error.code(), error.stop_reason()), (Code::Unknown, Some(StopReason::NonRetryable)));
}
