//! HTTP requests whose connection ends, and what is known of them then.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpFailure, HttpReport, HttpRetryLayer, HttpRetryService, OperationOptions, ReplayBody, TransportFailure,
};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use hyper_util::client::legacy::Client;
use std::io;
use tonic_gax::{Code, OperationReport, StopReason};
use tonic_gax_tests::{
    FaultServer, HttpScript, MemoryConnector, RawFrame, RawServer, codes, delays, http2_client, ms,
};
use tower_service::Service as _;

type Http = HttpRetryService<Client<MemoryConnector, Full<Bytes>>>;

/// Ten attempts of a second, 200 ms apart.
fn layer() -> HttpRetryLayer {
    let settings = delays(200, None).initial_rpc_timeout(ms(1000)).total_timeout(ms(10_000)).build().unwrap();
    HttpRetryLayer::new(&settings, [Code::Unavailable]).options(OperationOptions::new().reports(true))
}

/// Sends a request; its status, if a response came, and the report of either end.
async fn sent(client: &mut Http, method: &str) -> (Option<u16>, OperationReport) {
    let request = http::Request::builder().method(method).uri("http://server/thing");
    match client.call(request.body(Full::default()).unwrap()).await {
        Ok(response) => {
            let report = response.extensions().get::<OperationReport>().unwrap();
            (Some(response.status().as_u16()), report.clone())
        }
        Err(error) => (None, error.report().clone()),
    }
}

/// A body whose source fails after its first bytes.
fn failing() -> ReplayBody {
    ReplayBody::from_fn(|| {
        let frames =
            [Ok(Frame::data(Bytes::from_static(b"begun"))), Err(io::Error::other("the disk is gone"))];
        StreamBody::new(tokio_stream::iter(frames))
    })
}

/// Ways for a connection to end under the one request that runs.
fn ends() -> Vec<Vec<RawFrame>> {
    let goaway = |reason, taken| RawFrame::GoAway { reason, taken };
    vec![
        vec![RawFrame::Drop],
        vec![RawFrame::Headers, RawFrame::Drop],
        vec![goaway(0, true), RawFrame::Good],
        vec![goaway(0, true), RawFrame::Drop],
        vec![goaway(0, false), RawFrame::Drop],
        vec![goaway(2, true), RawFrame::Good],
        vec![goaway(2, false), RawFrame::Drop],
        vec![goaway(11, true), RawFrame::Drop],
    ]
}

/// A server that allows one stream at a time, and whose connection ends like that 100 ms after the second
/// request. The client knows of the limit once it has had a response.
async fn one_stream(end: Vec<RawFrame>) -> (RawServer, Http) {
    let play = [vec![RawFrame::Wait(ms(100))], end].concat();
    let server = RawServer::with_stream_limit(1, [vec![RawFrame::Good], play]);
    let mut client = layer().layer(http2_client(server.connector()));
    assert_eq!(sent(&mut client, "GET").await.0, Some(200));
    (server, client)
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_for_a_stream_outlive_their_connection() {
    for end in ends() {
        let (_server, client) = one_stream(end.clone()).await;
        // One runs, the second waits for its stream, the third behind it.
        let start = |turn: u64| {
            let mut client = client.clone();
            tokio::spawn(async move {
                tokio::time::sleep(ms(turn)).await;
                sent(&mut client, "GET").await
            })
        };
        let (running, waiting, behind) = (start(0), start(1), start(2));
        for request in [running, waiting, behind] {
            let (status, report) = request.await.unwrap();
            assert_eq!(status, Some(200), "{end:?}: {report}");
        }
    }
}

/// Whether it had left when the connection ended is not known.
#[tokio::test(start_paused = true)]
async fn a_request_that_waits_for_a_stream_is_not_sent_again_if_that_is_unsafe() {
    for end in ends() {
        let (_server, client) = one_stream(end.clone()).await;
        let mut running = client.clone();
        let running = tokio::spawn(async move { sent(&mut running, "GET").await });
        tokio::time::sleep(ms(1)).await;
        let mut waiting = client.clone();
        let (status, report) = sent(&mut waiting, "POST").await;
        assert_eq!((status, report.stop_reason()), (None, Some(StopReason::NonRetryable)), "{end:?}");
        assert_eq!(codes(&report), [Code::Unavailable], "{end:?}");
        let lost = [HttpFailure::Transport(TransportFailure::Reset)];
        assert_eq!(report.detail::<HttpReport>().unwrap().failures(), lost, "{end:?}");
        assert_eq!(running.await.unwrap().0, Some(200), "{end:?}");
    }
}

/// The server hangs, and the client's pings find out.
#[tokio::test(start_paused = true)]
async fn a_dead_connection_is_unavailable() {
    for hung in [vec![], vec![RawFrame::Headers]] {
        let play = [hung, vec![RawFrame::Hang]].concat();
        let server = RawServer::start([play]);
        let patient = delays(200, None).total_timeout(ms(60_000)).build().unwrap();
        let mut client = HttpRetryLayer::new(&patient, [Code::Unavailable])
            .options(OperationOptions::new().reports(true))
            .layer(http2_client(server.connector()));
        let (status, report) = sent(&mut client, "GET").await;
        assert_eq!((status, codes(&report)), (Some(200), vec![Code::Unavailable, Code::Ok]), "{report}");
        assert_eq!(server.requests(), [1, 2]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_fails_is_its_callers_fault() {
    let (http1, connector) = FaultServer::in_memory(HttpScript::default());
    let http2 = RawServer::start([vec![]]);
    for client in [FaultServer::client(connector), http2_client(http2.connector())] {
        let request = http::Request::put("http://server/thing").body(failing()).unwrap();
        let error = layer().layer(client).call(request).await.unwrap_err();
        assert_eq!((error.failure(), error.stop_reason()), (None, Some(StopReason::NonRetryable)), "{error}");
        assert_eq!(codes(error.report()), [Code::Unknown]);
    }
    assert_eq!((http1.arrivals().len(), http2.requests().len()), (0, 1));
}
