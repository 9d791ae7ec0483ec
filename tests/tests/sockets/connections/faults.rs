//! Servers, resolvers and connectors that misbehave, in virtual time.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails a test")]

use super::network::{Host, Network, address, list};
use gax_connection::{Address, Connection, Http2, Picker, ResolveFuture, Resolver};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tonic::Code;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{
    RawFrame, RawServer, Reply, Script, Setup, Stack, VirtualServer, codes, lasting, ms, report_of, settings,
};

async fn list_assets(connection: &Connection) -> Result<(), tonic::Status> {
    let call = AssetServiceClient::new(connection.clone());
    tokio::time::timeout(Duration::from_secs(300), async {
        let mut call = call;
        call.list_assets(ListAssetsRequest::default()).await.map(drop)
    })
    .await
    .expect("a call waits for ever")
}

fn good() -> VirtualServer {
    VirtualServer::start(Script::always(Reply::Serve))
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_up_before_it_says_anything_is_no_connection() {
    let network = Network::new().with(1, Host::HangsUp(b""));
    let connection = network.connection(&[1]).connect_lazy().unwrap();
    let status = list_assets(&connection).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("closed"), "{status:?}");
    assert_eq!(network.dialed(1).len(), 1, "the next one is made after the back-off");
}

/// A server of HTTP/1 or TLS says something, but not HTTP/2.
#[tokio::test(start_paused = true)]
async fn a_server_of_another_protocol_fails_calls_with_a_reason() {
    let alert: (&[u8], _) = (&[0x15, 3, 3, 0, 2, 2, 22], "the server speaks TLS, not plain HTTP/2");
    let http_1 = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    for (said, reason) in [alert, (http_1, "the server speaks HTTP/1, not HTTP/2")] {
        let network = Network::new().with(1, Host::HangsUp(said));
        let connection = network.connection(&[1]).connect_lazy().unwrap();
        for _ in 0..50 {
            let status = list_assets(&connection).await.unwrap_err();
            assert!(status.message().contains(reason), "{status:?}");
            tokio::time::sleep(ms(10)).await;
        }
        assert_eq!(network.dialed(1).len(), 3, "with back-off: {:?}", network.dialed(1));
    }
}

/// Such a server is met with back-off, and meanwhile calls fail: they don't wait for what does not last.
#[tokio::test(start_paused = true)]
async fn calls_fail_while_connections_are_lost_as_soon_as_they_are_made() {
    let server = RawServer::start((0..1000).map(|_| vec![RawFrame::Drop]));
    let network = Network::new().with(1, &server);
    let connection = network.connection(&[1]).connect_lazy().unwrap();
    let start = tonic_gax_tests::VirtualClock::start();
    let mut last = String::new();
    while start.elapsed() < Duration::from_secs(60) {
        let before = start.elapsed();
        last = list_assets(&connection).await.unwrap_err().message().to_owned();
        let waited = start.elapsed().checked_sub(before).unwrap();
        assert!(waited < ms(10), "a call waited for {waited:?}");
        tokio::time::sleep(ms(100)).await;
    }
    assert!(last.contains("lost as soon as they are made"), "{last}");
    assert!((5..20).contains(&network.dialed(1).len()), "{:?}", network.dialed(1));
}

/// The request that the server has taken ends, the others go to another connection, and none fails.
#[tokio::test(start_paused = true)]
async fn a_goodbye_in_mid_call_costs_no_call() {
    let plays = [vec![RawFrame::GoAway { reason: 0, taken: true }, RawFrame::Wait(ms(500)), RawFrame::Good]];
    let server = RawServer::start(plays);
    let connection = Network::new().with(1, &server).connection(&[1]).connect().await.unwrap();
    let first = tokio::spawn({
        let connection = connection.clone();
        async move { list_assets(&connection).await }
    });
    tokio::time::sleep(ms(100)).await;
    for _ in 0..3 {
        list_assets(&connection).await.unwrap();
    }
    first.await.unwrap().unwrap();
    assert_eq!(server.requests(), [1, 2, 2, 2]);
}

/// `Picker::First`: an address that takes connections and does nothing with them does not stand in the way of the others.
#[tokio::test(start_paused = true)]
async fn of_several_addresses_one_that_stalls_costs_a_moment() {
    for first in [Host::Stalls, Host::HangsUp(b"")] {
        let stalls = matches!(first, Host::Stalls);
        let (server, network) = (good(), Network::new().with(1, first));
        network.set(2, &server);
        let start = tonic_gax_tests::VirtualClock::start();
        let connection = network.connection(&[1, 2]).connect().await.unwrap();
        list_assets(&connection).await.unwrap();
        assert_eq!(start.elapsed(), ms(if stalls { 250 } else { 0 }));
        assert_eq!(server.arrivals().len(), 1);
    }
}

/// Servers that refuse, hang up and say nothing: while calls want them, and for a quiet hour after that.
#[tokio::test(start_paused = true)]
async fn while_everything_is_down_nothing_is_dialled_too_often_and_nothing_polls() {
    for picker in [Picker::First, Picker::RoundRobin, Picker::LeastInFlight] {
        let network = Network::new().with(2, Host::HangsUp(b"")).with(3, Host::Stalls);
        let connection = network.connection(&[1, 2, 3]).picker(picker).connect_lazy().unwrap();
        let mut running = tokio::task::JoinSet::new();
        for _ in 0..1000 {
            let connection = connection.clone();
            running.spawn(
                async move { Stack::Layer.list(connection, &Setup::new(lasting(2000))).await.is_ok() },
            );
            tokio::time::sleep(ms(300)).await;
        }
        assert!(!running.join_all().await.contains(&true));
        let dialed = || (1..=3).map(|host| network.dialed(host));
        let (dials, before) = (dialed().flatten().count(), parks());
        tokio::time::sleep(Duration::from_secs(3600)).await;
        let (dials, parks) = (dialed().flatten().count() - dials, parks() - before);
        // The resolver is asked after each failure and every minute. A long wait takes some turns of the wheel of timers.
        assert!(usize::try_from(parks).unwrap() < 8 * dials + 130, "{parks} timers for {dials} dials");
        for times in dialed() {
            let mut wait = 0.8;
            for pair in times.windows(2).skip(2) {
                // Of one endpoint's addresses, each is dialled as soon as one before it has failed.
                let waited = pair[1].checked_sub(pair[0]).unwrap().as_secs_f64();
                assert!(waited >= wait - 0.51, "{waited} s instead of {wait}: {times:?}");
                wait = (wait * 1.6).min(96.0);
            }
        }
    }
}

/// How often the runtime has gone to sleep. In virtual time it is woken by timers alone.
fn parks() -> u64 {
    tokio::runtime::Handle::current().metrics().worker_park_count(0)
}

/// The back-off was for the old address.
#[tokio::test(start_paused = true)]
async fn a_service_that_has_moved_is_connected_to_at_once() {
    for picker in [Picker::First, Picker::RoundRobin, Picker::LeastInFlight] {
        let (server, network, list) = (good(), Network::new(), list(&[1]));
        let connection = network.connection_by(&list).picker(picker).connect_lazy().unwrap();
        for _ in 0..1000 {
            list_assets(&connection).await.unwrap_err();
            tokio::time::sleep(ms(500)).await;
        }
        network.set(2, &server);
        list.replace([address(2)]);
        tokio::time::sleep(ms(1500)).await;
        list_assets(&connection).await.unwrap();
    }
}

/// A resolver that fails in every way, and then finds the server.
struct Failing(AtomicUsize);

impl Resolver for Failing {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, Box<dyn std::error::Error + Send + Sync>>> {
        let time = self.0.fetch_add(1, Ordering::Relaxed);
        assert_ne!(time, 0, "this resolver panics");
        Box::pin(async move {
            match time {
                1 => panic!("this resolver's future panics"),
                2 => Ok(Vec::new()),
                3 => Err("this resolver fails".into()),
                _ => Ok(vec![address(1)]),
            }
        })
    }

    fn changed(&self) -> ResolveFuture<'_, ()> {
        panic!("this resolver knows nothing of changes")
    }
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_fails_or_panics_is_asked_again() {
    let server = good();
    let connection =
        Network::new().with(1, &server).connection(&[]).resolver(Failing(AtomicUsize::new(0))).connect_lazy();
    let connection = connection.unwrap();
    let (start, mut said) = (tonic_gax_tests::VirtualClock::start(), Vec::new());
    while let Err(status) = list_assets(&connection).await {
        assert_eq!(status.code(), Code::Unavailable);
        let words = status.message().rsplit(": ").next().unwrap().to_owned();
        said.push(words);
        tokio::time::sleep(ms(100)).await;
    }
    said.dedup();
    assert_eq!(said, ["a resolver panicked", "the resolver found no address", "this resolver fails"]);
    // 50 ms, 100 ms, 1 s and 1.6 s, each give or take a fifth.
    let took = start.elapsed().as_secs_f64();
    assert!((2.7 * 0.8..2.9 * 1.2).contains(&took), "{took}");
}

#[tokio::test(start_paused = true)]
async fn a_connector_that_panics_fails_calls_until_it_connects() {
    let (server, network) = (good(), Network::new().with(1, Host::Panics));
    let connection = network.connection(&[1]).connect_lazy().unwrap();
    let status = list_assets(&connection).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().ends_with("a connector panicked"), "{status:?}");
    network.set(1, &server);
    tokio::time::sleep(Duration::from_secs(2)).await;
    list_assets(&connection).await.unwrap();
}

/// h2 would panic.
#[tokio::test(start_paused = true)]
async fn settings_that_http_2_does_not_have_are_refused() {
    let max = Duration::MAX;
    for (http2, reason) in [
        (
            Http2::default().max_frame_size(1),
            "max_frame_size is 1, but HTTP/2 allows 16384 to 16777215 bytes",
        ),
        (Http2::default().max_frame_size(1 << 24), "max_frame_size is 16777216, but"),
        (
            Http2::default().initial_stream_window_size(u32::MAX),
            "initial_stream_window_size is 4294967295, but",
        ),
        (
            Http2::default().initial_connection_window_size(1 << 31),
            "initial_connection_window_size is 2147483648",
        ),
        (Http2::default().keep_alive_interval(Duration::ZERO), "keep_alive_interval is zero"),
    ] {
        let error = Connection::to("http://server").http2(http2).connect_lazy().unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    for http2 in [
        Http2::default().keep_alive_interval(ms(1)).keep_alive_timeout(max),
        Http2::default().keep_alive_interval(max).keep_alive_while_idle(true),
        Http2::default().max_frame_size((1 << 24) - 1).initial_stream_window_size((1 << 31) - 1),
        Http2::default().reset_stream_duration(max).max_concurrent_reset_streams(usize::MAX),
        Http2::default().header_table_size(u32::MAX).max_header_list_size(u32::MAX).adaptive_window(true),
    ] {
        let server = good();
        let connection = Network::new().with(1, &server).connection(&[1]).http2(http2);
        let connection = connection.connect_timeout(max).resolve_every(max).max_age(max).tcp_keepalive(max);
        let connection = connection.connect().await.unwrap();
        list_assets(&connection).await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        list_assets(&connection).await.unwrap();
    }
}

/// As of the layer and of generated clients: nothing is sent, and the report says so.
#[tokio::test(start_paused = true)]
async fn retries_wait_out_a_short_outage() {
    for stack in Stack::ALL {
        let (server, network) = (good(), Network::new());
        let connection = network.connection(&[1]).connect_lazy().unwrap();
        let calling = tokio::spawn({
            let connection = connection.clone();
            async move { stack.list(connection, &Setup::new(settings()).reporting()).await }
        });
        tokio::time::sleep(ms(500)).await;
        network.set(1, &server);
        let report = report_of(&calling.await.unwrap());
        let codes = codes(&report);
        assert_eq!(codes.last(), Some(&tonic_gax::Code::Ok), "{report}");
        assert!(
            codes[..codes.len() - 1].iter().all(|code| *code == tonic_gax::Code::Unavailable),
            "{report}"
        );
    }
}

/// Whose tasks were those of a runtime that is gone: the next call begins new ones, in its own.
#[test]
fn a_connection_outlives_its_runtime() {
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let serving = runtime();
    let context = serving.enter();
    let server = good();
    let network = Network::new().with(1, &server);
    for picker in [Picker::First, Picker::RoundRobin] {
        let first = runtime();
        let builder = network.connection(&[1]).picker(picker);
        let connection = first.block_on(builder.connect()).unwrap();
        first.block_on(list_assets(&connection)).unwrap();
        drop(first);
        let second = runtime();
        second.block_on(async {
            // The old one is on its way out.
            while list_assets(&connection).await.is_err() {
                tokio::time::sleep(ms(20)).await;
            }
        });
    }
    let connection = network.connection(&[1]).connect_lazy().unwrap();
    drop(context);
    let status = called_outside(connection);
    assert!(status.contains("there is no tokio runtime"), "{status}");
}

/// One more connection was on its way when the runtime of the first one ended.
#[test]
fn an_extension_outlives_its_runtime() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let serving = runtime();
    let context = serving.enter();
    let server =
        VirtualServer::with_stream_limit(1, Script::of([Reply::stall()]).then_always(ms(0), Reply::Serve));
    let network = Network::new().with(1, &server);
    let first = runtime();
    let connection = first.block_on(network.connection(&[1]).connect()).unwrap();
    network.set(1, Host::Stalls);
    for _ in 0..2 {
        let connection = connection.clone();
        first.spawn(async move { list_assets(&connection).await });
    }
    // The server has the call that gets no reply, so that the next one gets one.
    while network.dialed(1).len() < 2 || server.arrivals().is_empty() {
        std::thread::yield_now();
    }
    drop(first);
    network.set(1, &server);
    let second = runtime();
    second.block_on(async {
        while list_assets(&connection).await.is_err() {
            tokio::time::sleep(ms(20)).await;
        }
    });
    drop(context);
}

/// A resolver that holds its thread until it is let go, the first time.
struct Holds {
    asked: mpsc::Sender<()>,
    released: Mutex<Option<mpsc::Receiver<()>>>,
}

impl Resolver for Holds {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, Box<dyn std::error::Error + Send + Sync>>> {
        if let Some(released) = self.released.lock().unwrap().take() {
            self.asked.send(()).unwrap();
            released.recv().unwrap();
        }
        Box::pin(async { Ok(vec![address(1)]) })
    }
}

/// The task of an endpoint is dropped before it has begun.
#[test]
fn addresses_that_come_while_a_runtime_shuts_down_are_connected_to_in_the_next_one() {
    let serving = tokio::runtime::Runtime::new().unwrap();
    let context = serving.enter();
    let network = Network::new().with(1, &good());
    let ((asked, is_asked), (release, released)) = (mpsc::channel(), mpsc::channel());
    let resolver = Holds { asked, released: Mutex::new(Some(released)) };
    let connection = network.connection(&[1]).resolver(resolver).connect_lazy().unwrap();
    let first = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (dropped, is_dropped) = mpsc::channel::<()>();
    first.spawn(async move {
        let _dropped = dropped;
        std::future::pending::<()>().await;
    });
    let call = connection.clone();
    first.spawn(async move { list_assets(&call).await });
    is_asked.recv().unwrap();
    first.shutdown_background();
    // The other thread of the runtime drops its tasks, and those that are still to come.
    is_dropped.recv().unwrap_err();
    release.send(()).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        while list_assets(&connection).await.is_err() {
            tokio::time::sleep(ms(20)).await;
        }
    });
    drop(context);
}

/// Outside of a runtime.
fn called_outside(connection: Connection) -> String {
    let mut client = AssetServiceClient::new(connection);
    let mut call = std::pin::pin!(client.list_assets(ListAssetsRequest::default()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match call.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(result) => result.unwrap_err().message().to_owned(),
        std::task::Poll::Pending => "it waits".to_owned(),
    }
}

/// An observer's panics are its own.
#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_changes_nothing() {
    struct Panics;
    impl gax_driver::observe::OperationObserver for Panics {
        fn connection_event(&self, event: &gax_driver::observe::ConnectionEvent<'_>) {
            panic!("of {event}");
        }
    }
    let server = good();
    let connection = Network::new().with(1, &server).connection(&[1]).observer(Arc::new(Panics));
    let connection = connection.max_age(Duration::from_secs(5)).connect().await.unwrap();
    for _ in 0..3 {
        list_assets(&connection).await.unwrap();
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
}
