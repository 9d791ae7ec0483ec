//! Connections that can't be made, in virtual time.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_connection::{Address, AddressList, ConnectBackoff, Connection, ConnectionBuilder};
use gax_driver::report::DelayType;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::Code;
use tonic_gax::RetrySettings;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{
    BodyPart, Reply, Script, Setup, Stack, VirtualClock, VirtualServer, codes, ms, report_of, settings,
};

/// Connections that are refused: when.
#[derive(Clone)]
struct Refusals(Arc<Mutex<Vec<Duration>>>);

fn refused() -> (ConnectionBuilder, Refusals) {
    let (start, refusals) = (VirtualClock::start(), Refusals(Arc::default()));
    let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
    let times = refusals.clone();
    let connection = Connection::to("http://server").resolver(list).connector(move |_| {
        times.0.lock().unwrap().push(start.elapsed());
        async { Err::<tokio::io::DuplexStream, _>(io::Error::from(io::ErrorKind::ConnectionRefused)) }
    });
    (connection, refusals)
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_refuses_is_met_with_two_quick_attempts_and_grpc_s_back_off() {
    let (connection, refusals) = refused();
    let mut client = AssetServiceClient::new(connection.connect_lazy().unwrap());
    let start = VirtualClock::start();
    while start.elapsed() < Duration::from_secs(3600) {
        let error = client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
        assert!(error.message().contains("refused"), "{error:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let times = refusals.0.lock().unwrap().clone();
    assert_eq!(times[0], Duration::ZERO);
    let quick: Vec<_> =
        times.windows(2).take(2).map(|pair| pair[1].saturating_sub(pair[0]).as_millis()).collect();
    assert!((40..=60).contains(&quick[0]) && (80..=120).contains(&quick[1]), "{quick:?}");
    let mut wait = 1.0_f64;
    for pair in times.windows(2).skip(2) {
        let waited = pair[1].saturating_sub(pair[0]).as_secs_f64();
        assert!((wait * 0.8 - 0.01..=wait * 1.2 + 0.01).contains(&waited), "{waited} instead of {wait}");
        wait = (wait * 1.6).min(120.0);
    }
    assert!((30..50).contains(&times.len()), "{}", times.len());
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_a_connection_wait() {
    let (connection, refusals) = refused();
    let connection = connection.connect_backoff(ConnectBackoff::default().max(Duration::from_secs(1)));
    let mut client = AssetServiceClient::new(connection.wait_for_ready(true).connect_lazy().unwrap());
    let call = client.list_assets(ListAssetsRequest::default());
    assert!(tokio::time::timeout(Duration::from_secs(60), call).await.is_err());
    let tried = refusals.0.lock().unwrap().len();
    assert!((50..=75).contains(&tried), "{tried}");
}

/// By the table, whatever the connection says.
#[tokio::test(start_paused = true)]
async fn calls_of_methods_whose_table_says_so_wait() {
    for (says, waits) in
        [("", false), (r#", "waitForReady": false"#, false), (r#", "waitForReady": true"#, true)]
    {
        let (connection, _) = refused();
        let table = format!(r#"{{"methodConfig": [{{"name": [{{}}], "timeout": "30s"{says}}}]}}"#);
        let layer = tonic_gax::RetryLayer::new(gax_table::RetryTable::parse(&table).unwrap());
        let service = tower_layer::Layer::layer(&layer, connection.connect_lazy().unwrap());
        let start = VirtualClock::start();
        let error =
            AssetServiceClient::new(service).list_assets(ListAssetsRequest::default()).await.unwrap_err();
        let (code, time) = if waits { (Code::DeadlineExceeded, 30) } else { (Code::Unavailable, 0) };
        assert_eq!((error.code(), start.elapsed().as_secs()), (code, time), "{says}");
    }
}

/// A server that refuses connections for so long, and when it was dialled.
fn down_for(down: Duration) -> (ConnectionBuilder, Refusals, VirtualServer) {
    let (start, refusals) = (VirtualClock::start(), Refusals(Arc::default()));
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let (pipes, times) = (server.connector(), refusals.clone());
    let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
    let connection = Connection::to("http://server").resolver(list).connector(move |_| {
        let (mut pipes, is_down) = (pipes.clone(), start.elapsed() < down);
        times.0.lock().unwrap().push(start.elapsed());
        async move {
            if is_down {
                return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
            }
            let pipe = tower::Service::call(&mut pipes, http::Uri::from_static("http://server")).await;
            pipe.map(hyper_util::rt::TokioIo::into_inner).map_err(io::Error::other)
        }
    });
    (connection, refusals, server)
}

/// Five attempts of 300 ms, in ten seconds.
fn five() -> tonic_gax::RetrySettingsBuilder {
    RetrySettings::builder()
        .initial_retry_delay(ms(100))
        .initial_rpc_timeout(ms(300))
        .max_attempts(5)
        .total_timeout(ms(10_000))
}

/// Each attempt to connect costs one attempt, and the wait for it none of its time.
#[tokio::test(start_paused = true)]
async fn the_wait_for_the_back_off_takes_no_attempt_and_none_of_its_time() {
    let unavailable = tonic_gax::Code::Unavailable;
    for stack in Stack::ALL {
        let (connection, dialled, _server) = down_for(ms(2_000));
        let setup = Setup::new(five().build().unwrap()).reporting();
        let report = report_of(&stack.list(connection.connect_lazy().unwrap(), &setup).await);
        let found = codes(&report);
        let (last, others) = found.split_last().unwrap();
        assert_eq!(*last, tonic_gax::Code::Ok, "{report}");
        assert!(others.iter().all(|code| *code == unavailable) && others.len() >= 2, "{report}");
        // One may be made between two attempts.
        assert!((found.len()..=5).contains(&dialled.0.lock().unwrap().len()), "{report}");
        let last = &report.attempts()[others.len()];
        assert_eq!(last.rpc_timeout(), Some(ms(300)));
        assert!(last.end().saturating_sub(last.start()) <= ms(1) && last.start() > ms(2_000), "{report}");
        let delay = report.attempt_delay(last.number()).unwrap();
        assert_eq!(delay.delay_type(), DelayType::Backoff);
        assert!(delay.time() > ms(500) && report.to_string().contains("(back-off)"), "{report}");
    }
}

/// One that begins while the endpoint is in back-off, too.
#[tokio::test(start_paused = true)]
async fn the_first_attempt_of_a_call_waits_for_the_back_off() {
    let (connection, _, _server) = down_for(ms(2_000));
    let connection = connection.connect_lazy().unwrap();
    assert!(Stack::Layer.list(connection.clone(), &Setup::new(settings()).without_retries()).await.is_err());
    tokio::time::sleep(ms(500)).await;
    let setup = Setup::new(five().max_attempts(2).build().unwrap()).reporting();
    let report = report_of(&Stack::Layer.list(connection.clone(), &setup).await);
    assert_eq!(codes(&report).last(), Some(&tonic_gax::Code::Ok), "{report}");
    // Where it is not retried, and where it is counted, it fails at once.
    for setup in [
        setup.clone().retrying([tonic_gax::Code::Internal]),
        Setup::new(five().build().unwrap()).compatible(tonic_gax::Compatibility::Grpc),
    ] {
        let (connection, _, _server) = down_for(ms(100_000));
        let connection = connection.connect_lazy().unwrap();
        assert!(
            Stack::Layer.list(connection.clone(), &Setup::new(settings()).without_retries()).await.is_err()
        );
        let start = VirtualClock::start();
        let report = report_of(&Stack::Layer.list(connection, &setup).await);
        assert_eq!(report.attempts()[0].end(), Duration::ZERO, "{report} {:?}", start.elapsed());
    }
}

/// Nobody waits for an attempt to connect that comes after the total timeout.
#[tokio::test(start_paused = true)]
async fn a_back_off_that_is_longer_than_the_operation_is_not_waited_for() {
    let (connection, _, _server) = down_for(ms(100_000));
    let connection = connection.connect_lazy().unwrap();
    assert!(Stack::Layer.list(connection.clone(), &Setup::new(five().build().unwrap())).await.is_err());
    tokio::time::sleep(ms(8_000)).await;
    let setup = Setup::new(five().max_attempts(2).total_timeout(ms(400)).build().unwrap());
    let start = VirtualClock::start();
    let status = Stack::Layer.list(connection, &setup).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(start.elapsed() <= ms(100), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_connected_for_nobody() {
    let (connection, refusals) = refused();
    let connection = connection.connect_lazy().unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    drop(connection);
    assert!(refusals.0.lock().unwrap().is_empty());
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
}

/// A server that takes connections and says nothing is given up, and the next connection may be better.
#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_given_up() {
    let held = Arc::new(Mutex::new(Vec::new()));
    let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
    let connection = Connection::to("http://server").resolver(list).connector(move |_| {
        let (client, server) = tokio::io::duplex(1 << 16);
        held.lock().unwrap().push(server);
        async { Ok(client) }
    });
    let start = VirtualClock::start();
    let error = connection.connect().await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(20));
    assert!(error.to_string().contains("no byte came from the server"), "{error}");
}

/// Connections to that server, and how often one was made.
pub(super) fn to(server: &VirtualServer) -> (ConnectionBuilder, Arc<AtomicUsize>) {
    let (pipes, made) = (server.connector(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&made);
    let list = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
    let connection = Connection::to("http://server").resolver(list).connector(move |_| {
        let mut pipes = pipes.clone();
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            let pipe = tower::Service::call(&mut pipes, http::Uri::from_static("http://server")).await;
            pipe.map(hyper_util::rt::TokioIo::into_inner).map_err(io::Error::other)
        }
    });
    (connection, made)
}

/// The calls on the old connection go on: it is the server's turn to say something.
#[tokio::test(start_paused = true)]
async fn a_slow_server_costs_one_more_connection() {
    let server = VirtualServer::start(Script::at_once([]).then_always(ms(700), Reply::Serve));
    let (connection, made) = to(&server);
    let connection = connection.connect().await.unwrap();
    let mut client = AssetServiceClient::new(connection.clone());
    let patient =
        tokio::spawn(async move { client.list_assets(ListAssetsRequest::default()).await.map(drop) });
    let hasty = RetrySettings::builder().initial_rpc_timeout(ms(100)).max_attempts(6).build().unwrap();
    let result = Stack::Layer.list(connection, &Setup::new(hasty)).await;
    assert_eq!(codes(&report_of(&result)), [tonic_gax::Code::DeadlineExceeded; 6]);
    patient.await.unwrap().unwrap();
    assert_eq!(made.load(Ordering::Relaxed), 2, "the second is given a second at least");
}

/// The server says that the service is up after a minute, and down after two.
#[tokio::test(start_paused = true)]
async fn calls_go_to_servers_that_are_healthy() {
    const WATCH: &str = "grpc.health.v1.Health/Watch";
    const UP: BodyPart = BodyPart::Data(bytes::Bytes::from_static(&[0, 0, 0, 0, 2, 8, 1]));
    const DOWN: BodyPart = BodyPart::Data(bytes::Bytes::from_static(&[0, 0, 0, 0, 2, 8, 2]));
    let minute = || BodyPart::Wait(Duration::from_secs(60));
    let statuses = Reply::play([DOWN, minute(), UP, minute(), DOWN, BodyPart::Hang]);
    let server = VirtualServer::start(Script::always(Reply::Serve).on(WATCH, [statuses]));
    let (connection, made) = to(&server);
    let connection = connection.health_check("google.cloud.asset.v1.AssetService");
    let mut client = AssetServiceClient::new(connection.connect_lazy().unwrap());
    let mut codes = Vec::new();
    for _ in 0..6 {
        let result = client.list_assets(ListAssetsRequest::default()).await;
        codes.push(result.map_or_else(|status| status.code(), |_| Code::Ok));
        tokio::time::sleep(Duration::from_secs(29)).await;
    }
    let (ok, down) = (Code::Ok, Code::Unavailable);
    assert_eq!(codes, [down, down, down, ok, ok, down]);
    assert_eq!(made.load(Ordering::Relaxed), 1);
    assert!(server.arrivals()[0].body.ends_with(b"\n\"google.cloud.asset.v1.AssetService"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_knows_no_health_is_healthy() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let (connection, _) = to(&server);
    let mut client = AssetServiceClient::new(connection.health_check("").connect_lazy().unwrap());
    client.list_assets(ListAssetsRequest::default()).await.unwrap();
}
