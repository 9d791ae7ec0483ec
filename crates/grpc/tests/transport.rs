//! The interceptor over the crate's own channel and sockets, and what that channel can't do yet. Each test of the latter fails
//! once the crate can do it: its row on the page *With the grpc crate* is to go then.

use crate::support::{Came, LIST, Sent, call, now, unary};
use gax_grpc::{RetriedCall, RetryInterceptor};
use gax_table::RetryTable;
use grpc::StatusCodeError;
use grpc::client::interceptor::InvokeExt as _;
use grpc::client::{
    CallOptions as GrpcOptions, Channel, ChannelOptions, Invoke as _, RecvStream as _, ResponseStreamItem,
};
use grpc::client::{SendOptions, SendStream as _};
use grpc::core::RequestHeaders;
use grpc::credentials::LocalChannelCredentials;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;
use tonic::transport::Endpoint;
use tonic_gax::{
    CallOptions, Code, OperationError, OperationOptions, OperationReport, RequestExt as _, RetryLayer,
    RetrySettings, StopReason,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::{BodyPart, Log, Reply, Script, SocketServer, ms};

#[path = "../examples/attempts.rs"]
#[expect(dead_code, reason = "its own main is not called")]
mod attempts_example;

const ASK: &str = "/test.talk.v1.Talk/Ask";
const LISTEN: &str = "/test.talk.v1.Talk/Listen";

fn channel(address: SocketAddr) -> Channel {
    let target = format!("dns:///{address}");
    Channel::new(target, Arc::new(LocalChannelCredentials::new()), ChannelOptions::default())
}

fn server(replies: impl IntoIterator<Item = Reply>) -> (SocketServer, Log) {
    let log = Log::default();
    let script = Script::at_once(replies);
    (SocketServer::scripted(SocketServer::ANY_PORT, script, log.clone()), log)
}

/// Short delays, and plenty of time.
fn table() -> RetryTable {
    let settings = RetrySettings::builder()
        .initial_retry_delay(ms(10))
        .retry_delay_multiplier(2.0)
        .max_retry_delay(ms(40))
        .total_timeout(Duration::from_secs(60))
        .build()
        .unwrap();
    RetryTable::builder().every_service(settings, [Code::Unavailable]).build().unwrap()
}

fn options() -> OperationOptions {
    OperationOptions::new().without_jitter()
}

fn retries() -> RetryInterceptor {
    RetryInterceptor::new(table()).options(options())
}

fn down() -> Reply {
    Reply::status(tonic::Status::unavailable("down"))
}

fn line(text: &str) -> Line {
    Line { text: text.to_owned(), count: 2 }
}

/// The numbers, delays and codes of attempts, and why there are no more.
fn attempts(report: &OperationReport) -> (Vec<(u32, Duration, Code)>, Option<StopReason>, String) {
    let row = |attempt: &tonic_gax::Attempt| (attempt.number(), attempt.delay(), attempt.code());
    (report.attempts().iter().map(row).collect(), report.stop_reason(), format!("{:?}", report.notes()))
}

#[tokio::test]
async fn calls_survive_an_outage_over_the_crate_s_channel() {
    let (server, log) = server([down(), down()]);
    let own = RetriedCall::new(CallOptions::new());
    let channel = channel(server.address()).with_interceptor(retries()).with_interceptor(own.clone());
    let reply: Line = unary(&channel, ASK, &line("hello")).await.unwrap();
    assert_eq!(reply.text, "hello");
    let made = [(1, ms(0), Code::Unavailable), (2, ms(10), Code::Unavailable), (3, ms(20), Code::Ok)];
    assert_eq!(attempts(&own.report().unwrap()).0, made);
    let arrivals = log.arrivals();
    let previous: Vec<_> =
        arrivals.iter().map(|arrival| arrival.header("grpc-previous-rpc-attempts")).collect();
    assert_eq!(previous, [None, Some("1"), Some("2")]);
    assert!(arrivals.iter().all(|arrival| arrival.headers.get_all("grpc-timeout").iter().count() == 1));
}

#[tokio::test]
async fn streams_are_retried_over_the_crate_s_channel() {
    let (server, _) = server([down()]);
    let channel = channel(server.address()).with_interceptor(retries());
    let headers = RequestHeaders::new().with_method_name(LISTEN);
    let (lines, trailers) = call::<Line>(&channel, headers, GrpcOptions::new(), &line("line")).await;
    assert_eq!((lines.len(), trailers.status().is_ok()), (2, true));
}

/// Nobody listens: the request was not sent, and the call fails when its attempts are used up.
#[tokio::test]
async fn a_server_that_is_away_is_reported_as_over_tonic() {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let options = CallOptions::new().max_attempts(3);
    let own = RetriedCall::new(options.clone());
    let crate_s = channel(address).with_interceptor(retries()).with_interceptor(own.clone());
    let status = unary::<Line>(&crate_s, LIST, &ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), StatusCodeError::Unavailable);
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let layer = RetryLayer::new(table()).options(self::options());
    let mut client = AssetServiceClient::new(layer.layer(endpoint.connect_lazy()));
    let request = tonic::Request::new(ListAssetsRequest::default()).with_call_options(options);
    let status = client.list_assets(request).await.unwrap_err();
    let (ours, layer_s) = (own.report().unwrap(), OperationError::of(&status).unwrap().report().clone());
    let (rows, reason, _) = attempts(&ours);
    assert_eq!((rows, reason), (attempts(&layer_s).0, attempts(&layer_s).1));
    assert_eq!(ours.delivery(), layer_s.delivery());
}

/// The service of `gax serve`, which refuses two attempts of each call: the layer and the interceptor
/// come through with the same report.
#[tokio::test]
async fn the_outages_of_gax_serve_are_survived_with_the_layer_s_report() {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let arguments = ["gax", "serve", "--listen", &address.to_string()].map(OsString::from);
    // It listens until the process ends.
    let _server = std::thread::spawn(move || gax::run(arguments));
    while TcpStream::connect(address).is_err() {
        tokio::time::sleep(ms(5)).await;
    }
    let own = RetriedCall::new(CallOptions::new());
    let ours = channel(address).with_interceptor(retries()).with_interceptor(own.clone());
    let request = ListAssetsRequest { parent: "projects/demo".to_owned(), ..ListAssetsRequest::default() };
    let reply: ListAssetsResponse = unary(&ours, LIST, &request).await.unwrap();

    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let layer = RetryLayer::new(table()).options(options());
    let mut client = AssetServiceClient::new(layer.layer(endpoint.connect_lazy()));
    let by_layer = client.list_assets(request).await.unwrap();
    assert_eq!(reply.assets, by_layer.get_ref().assets);
    let layer_s = OperationReport::of(by_layer.extensions()).unwrap();
    let report = own.report().unwrap();
    assert_eq!(attempts(&report), attempts(layer_s));
    assert_eq!((report.attempt_count(), report.method()), (3, layer_s.method()));
    attempts_example::run(&address.to_string()).await.unwrap();
}

/// A server that refuses every stream, and counts them.
fn refusing() -> (SocketServer, Arc<AtomicU32>) {
    let refused = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&refused);
    let server = SocketServer::start(SocketServer::ANY_PORT, |listener, _| async move {
        while let Ok((socket, _)) = listener.accept().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(socket).await.unwrap();
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    count.fetch_add(1, Ordering::Relaxed);
                    respond.send_reset(h2::Reason::REFUSED_STREAM);
                }
            });
        }
    });
    (server, refused)
}

/// If the crate retried, both would: a server that refuses or is down sees each call once.
#[tokio::test]
async fn the_crate_has_no_retries_of_its_own() {
    const RETRIES: &str = "the crate retries: turn that off where the interceptor stands";
    for reply in [down(), Reply::pushback(0)] {
        let (server, log) = server([reply]);
        unary::<Line>(&channel(server.address()), ASK, &line("hello")).await.unwrap_err();
        assert_eq!(log.arrivals().len(), 1, "{RETRIES}");
    }
    let (server, refused) = refusing();
    unary::<Line>(&channel(server.address()), ASK, &line("hello")).await.unwrap_err();
    assert_eq!(refused.load(Ordering::Relaxed), 1, "{RETRIES}");
}

/// The metadata of a response without headers is lost, and with it a pushback.
#[tokio::test]
async fn the_crate_loses_a_pushback() {
    let (server, _) = server([Reply::pushback(1)]);
    let headers = RequestHeaders::new().with_method_name(ASK);
    let (_, trailers) =
        call::<Line>(&channel(server.address()), headers, GrpcOptions::new(), &line("")).await;
    assert!(trailers.metadata().get("grpc-retry-pushback-ms").is_none());
}

/// A refused stream is like any outage: the status has a code and a text.
#[tokio::test]
async fn the_crate_does_not_say_that_a_stream_was_refused() {
    let (server, _) = refusing();
    let headers = RequestHeaders::new().with_method_name(ASK);
    let (_, trailers) =
        call::<Line>(&channel(server.address()), headers, GrpcOptions::new(), &line("")).await;
    let status = trailers.status().as_ref().unwrap_err();
    assert_eq!(status.code(), StatusCodeError::Unavailable, "{}", status.message());
    assert!(trailers.metadata().is_empty());
}

/// A deadline that has passed long ago neither ends the call nor reaches the server.
#[tokio::test]
async fn the_crate_does_not_heed_its_deadline() {
    let (server, log) = server([]);
    let mut options = GrpcOptions::new();
    options.set_deadline(now());
    let headers = RequestHeaders::new().with_method_name(ASK);
    let (_, trailers) = call::<Line>(&channel(server.address()), headers, options, &line("hello")).await;
    assert!(trailers.status().is_ok());
    assert_eq!(log.arrivals()[0].grpc_timeout(), None);
}

/// A call that is dropped before its response has headers is not reset: the server goes on with it until it has replied.
#[tokio::test]
async fn the_crate_does_not_reset_a_call_that_waits_for_headers() {
    let (sender, mut arrivals) = unbounded_channel();
    let log = Log::notifying(move |arrival| drop(sender.send(arrival)));
    let script =
        Script::of([(ms(0), Reply::Hang), (ms(0), Reply::messages_then(&[line("a")], [BodyPart::Hang]))]);
    let server = SocketServer::scripted(SocketServer::ANY_PORT, script, log.clone());
    let channel = channel(server.address());
    for _ in 0..2 {
        let headers = RequestHeaders::new().with_method_name(LISTEN);
        let (mut sender, mut receiver) = channel.invoke(headers, GrpcOptions::new()).await;
        sender.send(&Sent(&line("")), SendOptions::new().with_final_msg(true)).await.unwrap();
        let arrival = arrivals.recv().await.unwrap();
        if arrival.index == 1 {
            let item = receiver.recv(&mut Came(&mut Line::default())).await;
            assert!(matches!(item, ResponseStreamItem::Headers(_)));
        }
        drop((sender, receiver));
    }
    // The one that had its headers is reset, the one before it is not.
    let gone = arrivals.recv().await.unwrap();
    assert_eq!((gone.index, gone.is_open()), (1, false));
    assert_eq!(log.open(), 1);
}
