//! Several endpoints over real sockets: they drain, are killed, move, are dead or slow.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::GrpcTransport;
use gax_connection::{Address, AddressList, Connection, Ejection, Picker};
use gax_driver::observe::{ConnectionChange, ConnectionEvent, OperationObserver};
use gax_testing::{Resolution, ScriptedResolver};
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tonic_gax::RetrySettings;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::{
    Assets, Log, Reply, Script, Scripted, Setup, SocketServer, Stack, report_of, reported,
};
use tower::buffer::Buffer;

/// How often each endpoint was connected to, failed and was ejected.
#[derive(Default)]
struct Events(Mutex<HashMap<(String, &'static str), usize>>);

impl Events {
    fn count(&self, address: SocketAddr, change: &'static str) -> usize {
        self.0.lock().unwrap().get(&(address.to_string(), change)).copied().unwrap_or_default()
    }
}

impl OperationObserver for Events {
    fn connection_event(&self, event: &ConnectionEvent<'_>) {
        let change = match event.change() {
            ConnectionChange::Connecting => "connecting",
            ConnectionChange::Ready { .. } => "ready",
            ConnectionChange::Failed { .. } => "failed",
            ConnectionChange::Lost { .. } => "lost",
            ConnectionChange::Ejected { .. } => "ejected",
            _ => "another",
        };
        *self.0.lock().unwrap().entry((event.peer().to_owned(), change)).or_default() += 1;
    }
}

struct Server {
    socket: SocketServer,
    log: Log,
}

impl Server {
    fn start(script: Script) -> Self {
        let log = Log::default();
        let service = Scripted::new(AssetServiceServer::new(Assets::default()), script, log.clone());
        let router = tonic::transport::Server::builder().add_service(service);
        Self { socket: SocketServer::grpc(SocketServer::ANY_PORT, router), log }
    }

    fn slow(milliseconds: u64) -> Self {
        Self::start(Script::at_once([]).then_always(Duration::from_millis(milliseconds), Reply::Serve))
    }

    fn address(&self) -> Address {
        Address::from(self.socket.address())
    }
}

/// A port that refuses connections.
fn dead() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn setup() -> Setup {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(10))
        .initial_rpc_timeout(Duration::from_secs(60))
        .total_timeout(Duration::from_secs(120));
    Setup::new(settings.build().unwrap())
}

/// That many calls at a time.
fn calls(connection: &Connection, number: usize) -> JoinSet<Result<(), tonic::Status>> {
    let mut calls = JoinSet::new();
    for _ in 0..number {
        let mut caller = Stack::Layer.caller(connection.clone(), &setup());
        calls.spawn(async move { caller.list(ListAssetsRequest::default()).await.map(drop) });
    }
    calls
}

async fn all_ok(calls: JoinSet<Result<(), tonic::Status>>) {
    for result in calls.join_all().await {
        result.unwrap();
    }
}

/// Waits until a server has got so many calls.
async fn arrived(log: &Log, number: usize) {
    while log.arrivals().len() < number {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn calls_in_flight_over_a_drained_endpoint_end_with_a_reply() {
    let (leaving, staying) = (Server::slow(300), Server::slow(0));
    let addresses = AddressList::new([leaving.address(), staying.address()]);
    let connection = Connection::to("http://assets").resolver(addresses);
    let connection = connection.connect_lazy().unwrap();
    let first = calls(&connection, 64);
    arrived(&leaving.log, 64).await;
    let leaving = tokio::spawn(leaving.socket.leave());
    // More of them come while it drains.
    let second = calls(&connection, 64);
    all_ok(first).await;
    all_ok(second).await;
    leaving.await.unwrap();
    all_ok(calls(&connection, 64)).await;
    assert!(staying.log.arrivals().len() >= 64);
}

#[tokio::test]
async fn calls_in_flight_over_a_killed_endpoint_end_with_a_reply() {
    let (dying, staying) = (Server::slow(60_000), Server::slow(0));
    let addresses = AddressList::new([dying.address(), staying.address()]);
    let connection = Connection::to("http://assets").resolver(addresses).connect_lazy().unwrap();
    let calls = calls(&connection, 64);
    arrived(&dying.log, 64).await;
    dying.socket.kill();
    all_ok(calls).await;
    assert_eq!(staying.log.arrivals().len(), 64);
}

#[tokio::test]
async fn calls_in_flight_over_a_moved_endpoint_end_with_a_reply() {
    for picker in [Picker::First, Picker::RoundRobin, Picker::LeastInFlight] {
        let (old, new) = (Server::slow(300), Server::slow(0));
        let addresses = AddressList::new([old.address()]);
        let connection = Connection::to("http://assets").picker(picker).resolver(addresses.clone());
        let connection = connection.connect().await.unwrap();
        let first = calls(&connection, 64);
        arrived(&old.log, 64).await;
        addresses.replace([new.address()]);
        while new.log.arrivals().is_empty() {
            all_ok(calls(&connection, 1)).await;
        }
        all_ok(calls(&connection, 64)).await;
        all_ok(first).await;
        assert!(new.log.arrivals().len() > 64, "{picker:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_endpoints_the_dead_one_costs_no_call() {
    let (quick, slow, dead) = (Server::slow(0), Server::slow(20), dead());
    let addresses = AddressList::new([quick.address(), slow.address(), Address::from(dead)]);
    let events = Arc::new(Events::default());
    let connection = Connection::to("http://assets")
        .picker(Picker::LeastInFlight)
        .resolver(addresses)
        .observer(events.clone());
    let log = Log::default();
    let connection = connection.connect().await.unwrap();
    let mut workers = JoinSet::new();
    for _ in 0..50 {
        let mut caller = Stack::Layer.caller(connection.clone(), &setup().without_retries());
        workers.spawn(async move {
            for _ in 0..200 {
                caller.list(ListAssetsRequest::default()).await?;
            }
            Ok(())
        });
    }
    all_ok(workers).await;
    assert_eq!(quick.log.arrivals().len() + slow.log.arrivals().len(), 10_000);
    assert!(quick.log.arrivals().len() > slow.log.arrivals().len());
    // At 0 s, 0.05 s, 0.15 s, 1.15 s, 2.75 s, .., each give or take a fifth.
    let (mut most, mut at, mut wait) = (2, 0.0, 0.8);
    while at <= log.elapsed().as_secs_f64() {
        (most, at, wait) = (most + 1, at + wait, wait * 1.6);
    }
    let tried = events.count(dead, "connecting");
    assert!((1..=most).contains(&tried), "{tried} times in {:?}", log.elapsed());
}

#[cfg(unix)]
#[tokio::test]
async fn a_socket_in_the_file_system_is_connected_to() {
    let path = std::env::temp_dir().join(format!("tonic-gax-{}.sock", std::process::id()));
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let router = tonic::transport::Server::builder().add_service(AssetServiceServer::new(Assets::default()));
    let (accepted, incoming) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(accepted.send(Ok::<_, std::io::Error>(stream)));
        }
    });
    let incoming = tokio_stream::wrappers::UnboundedReceiverStream::new(incoming);
    let serving = tokio::spawn(router.serve_with_incoming(incoming));
    let connection = Connection::to(format!("unix:{}", path.display())).connect().await;
    std::fs::remove_file(&path).unwrap();
    all_ok(calls(&connection.unwrap(), 2)).await;
    serving.abort();
}

/// The kernel connects to another one, and the connection belongs to the one that was dialled.
#[tokio::test]
async fn an_address_that_the_kernel_changes_keeps_its_connection() {
    let server = Server::slow(0);
    let address = SocketAddr::from(([0, 0, 0, 0], server.socket.address().port()));
    let resolver = ScriptedResolver::new([Resolution::Addresses(vec![address])]);
    let events = Arc::new(Events::default());
    let connection = Connection::to("http://assets").resolver(resolver.clone()).observer(events.clone());
    let connection = connection.resolve_every(Duration::from_millis(5)).connect().await.unwrap();
    while resolver.asked() < 10 {
        all_ok(calls(&connection, 1)).await;
    }
    assert_eq!((events.count(address, "connecting"), events.count(address, "lost")), (1, 0));
}

/// By the system's resolver, which gives both families where there are two.
#[tokio::test]
async fn names_are_resolved() {
    let server = Server::slow(0);
    let connection = Connection::to(format!("dns:///localhost:{}", server.socket.address().port()));
    all_ok(calls(&connection.connect().await.unwrap(), 2)).await;
    let error = Connection::to("dns:///nowhere.invalid:1").connect().await.unwrap_err();
    assert!(error.to_string().starts_with("no connection: "), "{error}");
}

#[tokio::test]
async fn endpoints_take_turns() {
    let servers: Vec<_> = (0..3).map(|_| Server::slow(0)).collect();
    let addresses = AddressList::new(servers.iter().map(Server::address));
    let events = Arc::new(Events::default());
    let connection = Connection::to("http://assets").picker(Picker::RoundRobin).resolver(addresses);
    let connection = connection.observer(events.clone()).connect().await.unwrap();
    while servers.iter().any(|server| events.count(server.socket.address(), "ready") == 0) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..30 {
        all_ok(calls(&connection, 1)).await;
    }
    let counts: Vec<_> = servers.iter().map(|server| server.log.arrivals().len()).collect();
    assert_eq!(counts, [10, 10, 10]);
}

#[tokio::test]
async fn an_endpoint_that_calls_fail_at_is_ejected() {
    let (good, bad) = (Server::slow(0), Server::start(Script::always(Reply::unavailable())));
    let addresses = AddressList::new([good.address(), bad.address()]);
    let events = Arc::new(Events::default());
    let connection = Connection::to("http://assets")
        .picker(Picker::RoundRobin)
        .eject(Ejection::default().after(3).time(Duration::from_secs(600)))
        .resolver(addresses)
        .observer(events.clone())
        .connect()
        .await
        .unwrap();
    while events.count(good.socket.address(), "ready") + events.count(bad.socket.address(), "ready") < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..20 {
        all_ok(calls(&connection, 1)).await;
    }
    assert_eq!(events.count(bad.socket.address(), "ejected"), 1);
    assert_eq!(bad.log.arrivals().len(), 3);
}

#[tokio::test]
async fn a_retry_avoids_the_endpoint_that_failed_and_the_report_names_both() {
    async fn names_both<T: GrpcTransport + Sync>(stack: Stack, over: impl FnOnce(Connection) -> T) {
        let (good, bad) = (Server::slow(0), Server::start(Script::always(Reply::unavailable())));
        let addresses = AddressList::new([good.address(), bad.address()]);
        let events = Arc::new(Events::default());
        let connection = Connection::to("http://assets").picker(Picker::LeastInFlight).resolver(addresses);
        let connection = connection.observer(events.clone()).connect().await.unwrap();
        while events.count(good.socket.address(), "ready") + events.count(bad.socket.address(), "ready") < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut caller = stack.caller(over(connection), &setup());
        let (good, bad) = (good.address().to_string(), bad.address().to_string());
        let mut retried = 0;
        for _ in 0..40 {
            let report = report_of(&caller.list(reported(ListAssetsRequest::default())).await);
            let peers: Vec<_> = (1..=report.attempt_count()).map(|number| report.peer(number)).collect();
            if report.attempt_count() == 1 {
                assert_eq!(peers, [Some(&*good)], "{stack:?}");
            } else {
                assert_eq!(peers, [Some(&*bad), Some(&*good)], "{stack:?}");
                assert!(report.to_string().contains(&format!("endpoints: 1 {bad}, 2 {good}")), "{report}");
                retried += 1;
            }
        }
        assert!(retried > 0, "{stack:?}");
    }
    for stack in Stack::ALL {
        names_both(stack, |connection| connection).await;
        names_both(stack, |connection| Buffer::new(connection, 8)).await;
    }
}

#[tokio::test]
async fn more_connections_are_made_where_streams_are_short() {
    let log = Log::default();
    let script = Script::at_once([]).then_always(Duration::from_millis(200), Reply::Serve);
    let service = Scripted::new(AssetServiceServer::new(Assets::default()), script, log.clone());
    let router = tonic::transport::Server::builder().max_concurrent_streams(10).add_service(service);
    let socket = SocketServer::grpc(SocketServer::ANY_PORT, router);
    let events = Arc::new(Events::default());
    let connection = Connection::to(format!("http://{}", socket.address())).max_connections(3);
    let connection = connection.observer(events.clone()).connect().await.unwrap();
    for _ in 0..4 {
        all_ok(calls(&connection, 60)).await;
    }
    assert_eq!(events.count(socket.address(), "ready"), 3);
}
