//! Connections that die silently, over real sockets: a proxy swallows what it gets.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_connection::Connection;
use gax_driver::observe::{ConnectionChange, ConnectionEvent, LostReason, OperationObserver};
use gax_testing::Direction;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic_gax::{Code, Note, RetrySettings};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::{
    Assets, ConnectionFault, FaultProxy, Log, Reply, Script, Scripted, Setup, SocketServer, Stack, When,
    codes, report_of, reported,
};

/// Why connections were lost.
#[derive(Default)]
struct Losses(Mutex<Vec<LostReason>>);

impl OperationObserver for Losses {
    fn connection_event(&self, event: &ConnectionEvent<'_>) {
        if let ConnectionChange::Lost { reason } = event.change() {
            self.0.lock().unwrap().push(reason.clone());
        }
    }
}

fn server(script: Script) -> SocketServer {
    let service = Scripted::new(AssetServiceServer::new(Assets::default()), script, Log::default());
    SocketServer::grpc(SocketServer::ANY_PORT, tonic::transport::Server::builder().add_service(service))
}

fn setup(rpc_timeout: u64) -> Setup {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(1))
        .initial_rpc_timeout(Duration::from_millis(rpc_timeout))
        .total_timeout(Duration::from_secs(120));
    Setup::new(settings.build().unwrap())
}

const OK: [Code; 1] = [Code::Ok];
const TWO_LOST: [Code; 3] = [Code::DeadlineExceeded, Code::DeadlineExceeded, Code::Ok];

#[tokio::test]
async fn a_half_open_connection_costs_an_operation_two_attempts_and_later_ones_none() {
    for stack in Stack::ALL {
        let server = server(Script::always(Reply::Serve));
        let (proxy, address) = FaultProxy::listen(server.address()).await.unwrap();
        let losses = Arc::new(Losses::default());
        let connection = Connection::to(format!("http://{address}")).observer(losses.clone());
        let mut caller = stack.caller(connection.connect().await.unwrap(), &setup(500));
        let first = caller.list(reported(ListAssetsRequest::default())).await;
        assert_eq!(codes(&report_of(&first)), OK, "{stack:?}");
        proxy.now(&ConnectionFault::HalfOpen(When::Start));
        let lost = report_of(&caller.list(reported(ListAssetsRequest::default())).await);
        assert_eq!(codes(&lost), TWO_LOST, "{stack:?}");
        assert_eq!(lost.notes(), [Note::CONNECTION_GIVEN_UP], "{stack:?}");
        for _ in 0..20 {
            let next = caller.list(reported(ListAssetsRequest::default())).await;
            assert_eq!(codes(&report_of(&next)), OK, "{stack:?}");
        }
        assert_eq!(proxy.accepted(), 2, "{stack:?}");
        assert_eq!(*losses.0.lock().unwrap(), [LostReason::Silent], "{stack:?}");
    }
}

#[tokio::test]
async fn the_rule_can_be_switched_off() {
    let server = server(Script::always(Reply::Serve));
    let (proxy, address) = FaultProxy::listen(server.address()).await.unwrap();
    let connection = Connection::to(format!("http://{address}")).silent_attempts(None);
    let mut caller = Stack::Layer.caller(connection.connect().await.unwrap(), &setup(100));
    caller.list(ListAssetsRequest::default()).await.unwrap();
    proxy.now(&ConnectionFault::HalfOpen(When::Start));
    let ending =
        tokio::time::timeout(Duration::from_secs(2), caller.list(ListAssetsRequest::default())).await;
    assert!(ending.is_err(), "every attempt goes into the dead connection");
    assert_eq!(proxy.accepted(), 1);
}

/// The system can't tell a server that reads nothing from one that is gone: `tcp_user_timeout` says how long the server may pause.
#[tokio::test]
async fn a_server_that_reads_nothing_is_given_up_by_the_system() {
    for (timeout, pause) in [(Some(500), None), (None, Some(1500))] {
        let (timeout, pause) = (timeout.map(Duration::from_millis), pause.map(Duration::from_millis));
        let builder = tonic::transport::Server::builder().initial_stream_window_size(1 << 23);
        let mut builder = builder.initial_connection_window_size(1 << 23);
        let router = builder.add_service(AssetServiceServer::new(Assets::default()));
        let server = SocketServer::grpc(SocketServer::ANY_PORT, router);
        let (proxy, address) = FaultProxy::listen(server.address()).await.unwrap();
        let losses = Arc::new(Losses::default());
        let connection = Connection::to(format!("http://{address}")).observer(losses.clone());
        let connection = connection.tcp_user_timeout(timeout).connect().await.unwrap();
        let (direction, when) = (Direction::Request, When::Start);
        proxy.now(&ConnectionFault::Stall { direction, when, time: pause });
        // More than the buffers on the way have room for.
        let request = ListAssetsRequest { parent: "p".repeat(3 << 20), ..ListAssetsRequest::default() };
        let mut caller = Stack::Layer.caller(connection, &setup(60_000).without_retries());
        let result = caller.list(request).await;
        let losses = losses.0.lock().unwrap();
        if pause.is_some() {
            assert_eq!((result.map(drop).map_err(|status| status.code()), losses.len()), (Ok(()), 0));
        } else {
            assert_eq!(result.unwrap_err().code(), tonic::Code::Unavailable);
            let given_up =
                |reason: &LostReason| reason.to_string().contains("the operating system closed it");
            assert!(losses.iter().any(given_up), "{losses:?}");
        }
    }
}
