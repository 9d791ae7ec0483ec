//! The testing kit, as a program's own tests use it.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::Retryer;
use gax_http::HttpRetryLayer;
use gax_streams::resumption::Resumption;
use gax_table::RetryTable;
use gax_testing::{
    Attempts, Break, Fault, FaultLayer, Reply, Script, VirtualServer, assert_attempts, recording,
};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::time::Duration;
use tonic::Status;
use tonic::transport::Channel;
use tonic_gax::{
    Code, OperationError, OperationOptions, OperationReport, RetryBudget, RetryLayer, RetrySettings,
    StopReason,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::{line, ms};
use tower_layer::Layer as _;
use tower_service::Service as _;

/// 200 ms, 400 ms, then 500 ms between attempts of a second each, with jitter.
fn settings() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(ms(200))
        .retry_delay_multiplier(2.0)
        .max_retry_delay(ms(500))
        .initial_rpc_timeout(ms(1000))
        .total_timeout(ms(10_000))
        .build()
        .unwrap()
}

fn client(server: &VirtualServer) -> AssetServiceClient<Channel> {
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets()
        .set_retry_settings(settings())
        .set_retryable_codes([Code::Unavailable, Code::DeadlineExceeded]);
    let settings = AssetServiceSettings::create(stub.build().unwrap())
        .with_options(OperationOptions::new().without_jitter().reports(true));
    AssetServiceClient::with_settings(server.channel(), settings)
}

const DOWN: Code = Code::Unavailable;

/// A stream that is scripted: messages and a status, messages and silence, and a frame that is none.
#[tokio::test(start_paused = true)]
async fn streams_follow_a_script_too() {
    let down = Status::unavailable("down");
    let script = Script::new().on(
        "Listen",
        [
            Reply::messages_then_status(&[line(1), line(2)], &down),
            Reply::messages_then_stall(&[line(3)]),
            Reply::messages_then_broken(&[line(4)]),
        ],
    );
    let server = VirtualServer::start(script);
    let mut stub = TalkStubSettings::builder();
    let resumption = Resumption::by_position(|line: &Line| line.count, |_: &Line, count| line(count));
    stub.listen()
        .set_retry_settings(settings())
        .set_retryable_codes([Code::Unavailable, Code::Internal])
        .set_resumption(resumption)
        .set_wait_timeout(ms(300));
    let client = TalkClient::with_settings(server.channel(), TalkSettings::create(stub.build().unwrap()));
    let mut lines = client.listen(line(0)).await.unwrap().into_inner();
    for number in 1..=4 {
        assert_eq!(lines.message().await.unwrap(), Some(line(number)));
    }
    // Nothing can be read behind that, whatever the codes are.
    assert_eq!(lines.message().await.unwrap_err().code(), tonic::Code::Internal);
    let report = lines.report().unwrap();
    let codes: Vec<_> = report.attempts().iter().map(tonic_gax::Attempt::code).collect();
    assert_eq!(codes, [DOWN, Code::Aborted, Code::Internal]);
    assert_eq!(report.messages_delivered(), 4);
}

/// A user's test of an override.
#[tokio::test(start_paused = true)]
async fn an_override_is_tested_in_five_lines() {
    let server = VirtualServer::start(Script::new().on("ListAssets", [Reply::unavailable(), Reply::Hang]));
    let response = client(&server).list_assets(ListAssetsRequest::default()).await;
    assert_attempts!(
        response,
        [(0, 0, 0, DOWN), (1000, 200, 200, 1200, Code::DeadlineExceeded), (400, 1600, 1600, Code::Ok)]
    );
}

/// The table of one call against a server of that script.
async fn rows(script: Script) -> (Vec<(u64, u64, Code)>, VirtualServer, Option<StopReason>) {
    let server = VirtualServer::start(script);
    let result = client(&server).list_assets(ListAssetsRequest::default()).await;
    let report = match &result {
        Ok(response) => response.extensions().get::<OperationReport>().unwrap().clone(),
        Err(status) => OperationError::of(status).unwrap().report().clone(),
    };
    let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap();
    let rows = report.attempts().iter();
    let rows = rows.map(|row| (whole(row.start()), whole(row.end()), row.code())).collect();
    (rows, server, report.stop_reason())
}

#[tokio::test(start_paused = true)]
async fn everything_that_a_server_does_to_a_call() {
    const INTERNAL_ERROR: u32 = 2;
    const REFUSED_STREAM: u32 = 7;
    let good = |start| (start, start, Code::Ok);
    for (reply, expected) in [
        (Reply::pushback(30), vec![(0, 0, DOWN), good(30)]),
        (Reply::Break(Break::Close), vec![(0, 0, DOWN), good(200)]),
        (Reply::Hang, vec![(0, 1000, Code::DeadlineExceeded), good(1200)]),
        (Reply::stall(), vec![(0, 1000, Code::DeadlineExceeded), good(1200)]),
        (Reply::http(503, &[]), vec![(0, 0, DOWN), good(200)]),
        (Reply::Break(Break::Reset(INTERNAL_ERROR)), vec![(0, 0, Code::Internal)]),
        // Sent again at once, as if it had never been sent.
        (Reply::Break(Break::Reset(REFUSED_STREAM)), vec![good(0)]),
        (Reply::Break(Break::GoAway { reason: 0, taken: false }), vec![good(0)]),
        (Reply::message(&ListAssetsResponse::default()), vec![good(0)]),
    ] {
        let (rows, _, _) = rows(Script::of([reply.clone()])).await;
        assert_eq!(rows, expected, "{reply:?}");
    }
    let (rows, _, reason) = rows(Script::always(Reply::pushback(-1))).await;
    assert_eq!((rows, reason), (vec![(0, 0, DOWN)], Some(StopReason::Pushback)));
    // A delayed reply, and one that goes on for ever.
    let late = Script::of([(ms(70), Reply::unavailable())]);
    assert_eq!(self::rows(late).await.0, [(0, 70, DOWN), good(270)]);
}

/// A server that says it has looked at a request ends the connection, not the request.
#[tokio::test(start_paused = true)]
async fn a_script_is_followed_method_by_method() {
    let path = "/google.cloud.asset.v1.AssetService/ListAssets";
    let script = Script::of([Reply::code(tonic::Code::NotFound)])
        .on(path, [Reply::unavailable()])
        .on("Other", [Reply::Hang]);
    let (rows, server, reason) = rows(script).await;
    assert_eq!(rows, [(0, 0, DOWN), (200, 200, Code::NotFound)]);
    assert_eq!(reason, Some(StopReason::NonRetryable));
    assert_eq!(server.seen(), [(0, Some(1000)), (200, Some(1000))]);
    let arrivals = server.arrivals();
    assert_eq!((arrivals[0].path.as_str(), arrivals[0].gone), (path, None));
    assert_eq!(arrivals[0].header("content-type"), Some("application/grpc"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_is_seen_to_be() {
    let server = VirtualServer::start(Script::always(Reply::Hang));
    let client = client(&server);
    let call = client.list_assets(ListAssetsRequest::default());
    assert!(tokio::time::timeout(ms(300), call).await.is_err());
    tokio::time::sleep(ms(1)).await;
    assert_eq!(server.arrivals()[0].gone, Some(ms(300)));
}

#[tokio::test(start_paused = true)]
async fn tables_that_differ_are_printed_side_by_side() {
    let server = VirtualServer::start(Script::of([Reply::unavailable()]));
    let response = client(&server).list_assets(ListAssetsRequest::default()).await;
    let rows = [(0, 0, 0, DOWN).into(), (1000, 100, 100, 100, Code::Ok).into(), (1, 2, 3, DOWN).into()];
    let table = [
        "the attempts are not the expected ones",
        "     expected                                      | made",
        "   1 delay 0 ms, 0..0 ms UNAVAILABLE               | delay 0 ms, 0..0 ms UNAVAILABLE",
        "!  2 timeout 1000 ms, delay 100 ms, 100..100 ms OK | timeout 1000 ms, delay 200 ms, 200..200 ms OK",
        "!  3 delay 1 ms, 2..3 ms UNAVAILABLE               | -",
    ];
    assert_eq!(Attempts::of(&response).compare(&rows).unwrap_err(), table.join("\n"));
    let silent = tonic::Response::new(());
    assert!(Attempts::of(&silent).compare(&[]).unwrap_err().contains("OperationOptions::reports(true)"));
}

#[tokio::test(start_paused = true)]
async fn a_recording_does_again_what_a_server_did() {
    let script =
        || Script::of([Reply::unavailable(), Reply::Hang]).on("ListAssets", [(ms(20), Reply::unavailable())]);
    let server = VirtualServer::start(script());
    let first = client(&server).list_assets(ListAssetsRequest::default()).await.unwrap();
    let report = first.extensions().get::<OperationReport>().unwrap().clone();
    let text = recording(&report);
    let codes = [
        "code = \"UNAVAILABLE\"\ndelay = \"20ms\"",
        "code = \"UNAVAILABLE\"\ndelay = \"0ms\"",
        "silence = true",
        "code = \"OK\"\ndelay = \"0ms\"",
    ];
    let method = "[[method.\"google.cloud.asset.v1.AssetService/ListAssets\"]]";
    assert_eq!(text, codes.map(|code| format!("{method}\n{code}\n")).concat());
    let server = VirtualServer::start(text.parse().unwrap());
    let again = client(&server).list_assets(ListAssetsRequest::default()).await.unwrap();
    let rows = |report: &OperationReport| format!("{:?}", report.attempts());
    assert_eq!(rows(again.extensions().get::<OperationReport>().unwrap()), rows(&report));
}

#[tokio::test(start_paused = true)]
async fn closures_and_http_clients_follow_scripts_too() {
    let script = Script::new().on("save", [Reply::unavailable(), Reply::pushback(1)]);
    let retryer =
        Retryer::new(&settings(), [Code::Unavailable]).options(OperationOptions::new().without_jitter());
    let saved = retryer.run(|_| script.attempt("save")).await.unwrap();
    assert_attempts!(saved, [(0, 0, 0, DOWN), (200, 200, 200, DOWN), (400, 600, 600, Code::Ok)]);

    let server = VirtualServer::start(Script::of([Reply::http(503, &[("retry-after", "2")])]));
    let http =
        Client::builder(TokioExecutor::new()).http2_only(true).build::<_, Full<Bytes>>(server.connector());
    let mut http = HttpRetryLayer::new(&settings(), [Code::Unavailable])
        .options(OperationOptions::new().without_jitter())
        .layer(http);
    let request = http::Request::get("http://server/things").body(Full::default()).unwrap();
    let response = http.call(request).await;
    assert_attempts!(response, [(0, 0, 0, DOWN), (2200, 2200, 2200, Code::Ok)]);
}

/// Which of a hundred calls are refused, with one attempt each.
async fn refused(layer: &FaultLayer) -> Vec<usize> {
    let server = VirtualServer::start(Script::new());
    let mut client = TonicClient::new(layer.layer(server.channel()));
    let mut refused = Vec::new();
    for call in 0..100 {
        if let Err(status) = client.list_assets(ListAssetsRequest::default()).await {
            assert_eq!((status.code(), status.message()), (tonic::Code::Unavailable, "injected"));
            refused.push(call);
        }
    }
    refused
}

#[tokio::test(start_paused = true)]
async fn faults_are_drawn_from_a_seed() {
    let layer = |seed, percent| FaultLayer::new(seed).fault(Fault::code(DOWN).percent(percent));
    let first = refused(&layer(7, 10.0)).await;
    assert!((3..20).contains(&first.len()), "{first:?}");
    assert_eq!(refused(&layer(7, 10.0)).await, first);
    assert_ne!(refused(&layer(8, 10.0)).await, first);
    assert_eq!(refused(&layer(7, 0.0)).await.len(), 0);
    assert_eq!(refused(&layer(7, 100.0)).await.len(), 100);
    let other = FaultLayer::new(7).fault(Fault::code(DOWN).on("GetFeed"));
    assert_eq!(refused(&other).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn faults_lie_under_the_layer_that_retries() {
    let faults = FaultLayer::new(1).fault(Fault::delay(ms(40))).fault(Fault::code(DOWN).on("ListAssets"));
    let table = RetryTable::builder()
        .service("google.cloud.asset.v1.AssetService", settings(), [Code::Unavailable])
        .build()
        .unwrap();
    let layer = RetryLayer::new(table)
        .options(OperationOptions::new().without_jitter().retry_budget(RetryBudget::tokens(4, 0.1)));
    let server = VirtualServer::start(Script::new());
    let mut client = TonicClient::new(layer.layer(faults.layer(server.channel())));
    let status = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_attempts!(status, [(0, 0, 40, DOWN), (200, 240, 280, DOWN)]);
    assert_eq!(server.seen(), []);
}
