//! Hedged HTTP requests: those that read, and no others unless it is said.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpCallOptions, HttpRetryLayer, IdempotencyRule, IdempotencyTable, OperationClass, OperationOptions,
};
use gax_retry::{Code, Hedging, RetryBudget, RetrySettings, StopReason};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::time::sleep;
use tonic_gax::settings::SettingsProblem;
use tonic_gax::{CallOptions, Note, OperationReport};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, RawFrame, RawServer, delays, ms};
use tower_service::Service as _;

/// RFC 9113, section 7.
const CANCEL: u32 = 8;

/// A second attempt after 100 ms, and at once after UNAVAILABLE; a second for everything.
fn layer() -> HttpRetryLayer {
    let settings = delays(200, None).total_timeout(ms(1000)).build().unwrap();
    let hedging = Hedging::new(2).delay(ms(100)).non_fatal_codes([Code::Unavailable]);
    HttpRetryLayer::new(&settings, [Code::Unavailable])
        .hedging(hedging)
        .options(OperationOptions::new().reports(true))
}

/// The status of the operation's end, when its attempts were sent, and its report.
async fn sent(method: &str, acts: Vec<HttpAct>) -> (Option<u16>, Vec<u128>, OperationReport) {
    let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
    let mut client = layer().layer(FaultServer::full_client(connector));
    let body = Full::from("{}");
    let request = http::Request::builder().method(method).uri("http://server/thing").body(body).unwrap();
    let (status, report) = match client.call(request).await {
        Ok(response) => (
            Some(response.status().as_u16()),
            response.extensions().get::<OperationReport>().unwrap().clone(),
        ),
        Err(error) => (None, error.report().clone()),
    };
    (status, server.times(), report)
}

/// Number, start, end and code of each attempt, in milliseconds.
fn rows(report: &OperationReport) -> Vec<(u32, u128, u128, Code)> {
    let rows = report.attempts().iter();
    rows.map(|row| (row.number(), row.start().as_millis(), row.end().as_millis(), row.code())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_request_that_reads_is_hedged() {
    for method in ["GET", "HEAD", "OPTIONS"] {
        let (status, times, report) = sent(method, vec![HttpAct::Stall, HttpAct::status(200)]).await;
        // A reply that is there when a hedge is due wins, so that it goes out past that moment.
        assert_eq!((status, times), (Some(200), vec![0, 101]), "{method}");
        assert_eq!(rows(&report), [(1, 0, 101, Code::Cancelled), (2, 100, 101, Code::Ok)], "{method}");
    }
}

/// Over HTTP/1.1 the connection of an attempt that lost is closed, and over HTTP/2 its stream is reset by CANCEL.
#[tokio::test(start_paused = true)]
async fn the_server_sees_the_attempts_that_lost_cancelled() {
    let slow = HttpAct::Slow(vec![(ms(20), "a")]);
    let (server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::Stall, slow]));
    let mut client = layer().layer(FaultServer::full_client(connector));
    let get = || http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    client.call(get()).await.unwrap();
    sleep(ms(1)).await;
    // That of the reply is kept.
    assert_eq!((server.accepted(), server.connections()), (2, 1));

    let server = RawServer::start([vec![], vec![RawFrame::Wait(ms(20)), RawFrame::Good]]);
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build(server.connector());
    layer().layer(client).call(get()).await.unwrap();
    sleep(ms(1)).await;
    let seen: Vec<_> = server.seen().iter().map(|stream| (stream.at, stream.reset)).collect();
    assert_eq!(seen, [(ms(0), Some((CANCEL, ms(121)))), (ms(101), None)]);
}

/// A server asks for a delay while the first attempt is still in flight, or before any other.
#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_a_wait_gets_no_hedge_before() {
    let busy = || HttpAct::status(503).with_header("retry-after", "1");
    let slow = |after| HttpAct::Slow(vec![(ms(after), "a")]);
    let settings = RetrySettings::builder().jittered(false).total_timeout(ms(5000)).build().unwrap();
    let hedging = Hedging::new(3).delay(ms(100)).non_fatal_codes([Code::Unavailable]);
    let layer = HttpRetryLayer::new(&settings, [Code::Unavailable])
        .hedging(hedging)
        .options(OperationOptions::new().reports(true));
    for (acts, expected) in [
        (vec![busy(), slow(10)], vec![(1, 0, 0, Code::Unavailable), (2, 1000, 1011, Code::Ok)]),
        (
            vec![HttpAct::Stall, busy(), slow(10)],
            vec![(1, 0, 1112, Code::Cancelled), (2, 100, 101, Code::Unavailable), (3, 1101, 1112, Code::Ok)],
        ),
        (vec![slow(500), busy()], vec![(1, 0, 500, Code::Ok), (2, 100, 101, Code::Unavailable)]),
    ] {
        let (_server, connector) = FaultServer::in_memory(HttpScript::new(acts));
        let mut client = layer.clone().layer(FaultServer::full_client(connector));
        let request = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
        let response = client.call(request).await.unwrap();
        assert_eq!(rows(response.extensions().get().unwrap()), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hedge_that_the_budget_does_not_allow_is_a_note() {
    let slow = HttpAct::Slow(vec![(ms(300), "a")]);
    let (server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::status(503), slow]));
    let layer = layer().options(OperationOptions::new().retry_budget(RetryBudget::tokens(2, 0.1)));
    let mut client = layer.layer(FaultServer::full_client(connector));
    let get = || http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    // Spends the budget: it has one token of two left.
    assert_eq!(client.call(get()).await.unwrap().status(), 503);
    let response = client.call(get()).await.unwrap();
    let report: &OperationReport = response.extensions().get().unwrap();
    assert_eq!(rows(report), [(1, 0, 300, Code::Ok)]);
    assert_eq!((report.notes(), server.times()), (&[Note::HEDGE_WITHHELD][..], vec![0, 0]));
}

#[tokio::test(start_paused = true)]
async fn one_that_may_change_something_is_sent_once_and_waits() {
    for method in ["PUT", "DELETE", "POST", "PATCH", "TRACE"] {
        let (status, times, report) = sent(method, vec![HttpAct::Stall]).await;
        assert_eq!((status, times), (None, vec![0]), "{method}");
        assert_eq!(rows(&report), [(1, 0, 1000, Code::DeadlineExceeded)], "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_not_fatal_brings_the_next_at_once_and_the_last_one_is_the_response() {
    let busy = || HttpAct::status(503);
    let (status, times, report) = sent("GET", vec![busy(), HttpAct::status(200)]).await;
    assert_eq!((status, times), (Some(200), vec![0, 0]), "{report}");
    let (status, times, report) = sent("GET", vec![busy(), busy()]).await;
    assert_eq!((status, times), (Some(503), vec![0, 0]));
    assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts));
    // A final status ends it all.
    let (status, times, report) = sent("GET", vec![HttpAct::Stall, HttpAct::status(404)]).await;
    assert_eq!((status, times), (Some(404), vec![0, 101]));
    assert_eq!(rows(&report), [(1, 0, 101, Code::Cancelled), (2, 100, 101, Code::NotFound)]);
}

#[tokio::test(start_paused = true)]
async fn hedging_that_can_not_work_sends_nothing() {
    let (server, connector) = FaultServer::in_memory(HttpScript::default());
    let broken = Hedging::new(0).percentile(1.5);
    let fields: Vec<_> = broken.problems().iter().map(SettingsProblem::field).collect();
    assert_eq!(fields, ["hedging.max_attempts", "hedging.percentile"]);
    let mut client = layer().hedging(broken).layer(FaultServer::full_client(connector));
    let request = http::Request::get("http://server/thing").body(Full::default()).unwrap();
    let error = client.call(request).await.err().unwrap();
    assert_eq!(error.report().stop_reason(), Some(StopReason::InvalidOptions));
    assert_eq!(server.times(), []);
}

/// A request's own limits count, hedged or not.
#[tokio::test(start_paused = true)]
async fn a_request_s_own_limits_count_when_it_is_hedged() {
    let (_server, connector) = FaultServer::in_memory(HttpScript::new([HttpAct::StallAfter(10)]));
    let mut client = layer().layer(FaultServer::full_client(connector));
    let options = HttpCallOptions::new().max_response_buffer(5);
    let request = http::Request::get("http://server/thing").extension(options).body(Full::default()).unwrap();
    let response = client.call(request).await.unwrap();
    let report = response.extensions().get::<OperationReport>().unwrap();
    assert_eq!((report.attempt_count(), report.notes()), (1, &[Note::RESPONSE_TOO_LARGE_TO_BUFFER][..]));
}

/// Requests of one rule are slow, and those of the other are not: each rule has latencies of its own, which requests with
/// options share.
#[tokio::test(start_paused = true)]
async fn a_percentile_is_of_the_rules_own_requests() {
    let of = |path: &'static str| IdempotencyRule::new(path, "GET", path, OperationClass::Always).unwrap();
    let table = IdempotencyTable::new().with_rule(of("/reports/{id}")).with_rule(of("/things/{id}"));
    let pieces = |after| HttpAct::Slow(vec![(ms(after), "piece")]);
    for options in [None, Some(CallOptions::new().timeout(ms(9000)))] {
        let fast = std::iter::repeat_n(pieces(2), 20);
        let slow = std::iter::repeat_n(pieces(400), 20);
        let acts = fast.chain(slow).chain([HttpAct::Stall, pieces(2), HttpAct::Stall, pieces(2)]);
        let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
        let settings = RetrySettings::logical_timeout(ms(9000));
        let layer = HttpRetryLayer::new(&settings, [Code::Unavailable]).idempotency(table.clone());
        let layer = layer.hedging(Hedging::new(2).percentile(0.5));
        let client = layer.layer(FaultServer::full_client(connector));
        let get = |path: String| {
            let mut request = http::Request::get(format!("http://server/{path}"));
            if let (Some(extensions), Some(options)) = (request.extensions_mut(), options.clone()) {
                extensions.insert(options);
            }
            client.send(request.body(Full::<Bytes>::default()).unwrap())
        };
        for (rule, count) in [("things", 20), ("reports", 20), ("things", 1), ("reports", 1)] {
            for number in 0..count {
                get(format!("{rule}/{number}")).await.unwrap();
            }
        }
        let times = server.times();
        let [.., thing, hedge, report, other_hedge] = times[..] else { panic!("{times:?}") };
        assert_eq!((hedge - thing, other_hedge - report), (3, 401), "{options:?}");
    }
}
