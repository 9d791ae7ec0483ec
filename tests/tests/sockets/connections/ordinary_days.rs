//! Connections on an ordinary day: servers and proxies that end them in good order, restarts, addresses that change. In
//! virtual time.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "what fails here fails a test")]

use super::network::{Host, Network, address, list};
use gax_connection::{Address, Connection, Picker, ResolveFuture, Resolver};
use gax_driver::credentials::{AuthHeaders, Credentials};
use gax_driver::report::DelayType;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tonic_gax_tests::{
    BodyPart, RawFrame, RawServer, Reply, Script, Setup, Stack, VirtualClock, VirtualServer, delays, lasting,
    ms, report_of,
};

/// So many calls, one each so often: the reports of those that failed, and the most attempts of one.
async fn calls(connection: &Connection, setup: &Setup, number: usize, every: Duration) -> (Vec<String>, u32) {
    let mut running = JoinSet::new();
    for _ in 0..number {
        let (connection, setup) = (connection.clone(), setup.clone().reporting());
        running.spawn(async move {
            let result = Stack::Layer.list(connection, &setup).await;
            let report = report_of(&result);
            (result.is_err().then(|| report.to_string()), report.attempt_count())
        });
        tokio::time::sleep(every).await;
    }
    let ended = running.join_all().await;
    let most = ended.iter().map(|(_, attempts)| *attempts).max();
    (ended.into_iter().filter_map(|(report, _)| report).collect(), most.unwrap_or_default())
}

/// 200 ms before every retry, and a minute in all.
fn retrying() -> Setup {
    Setup::new(delays(200, 1.0).total_timeout(ms(60_000)).build().unwrap())
}

/// As Envoy (`max_requests_per_connection`), nginx (`keepalive_requests`) and grpc-go (`MaxConnectionAge`) do it, and as a reset does.
#[tokio::test(start_paused = true)]
async fn a_connection_that_served_is_followed_at_once_however_it_ended() {
    let goodbye = RawFrame::GoAway { reason: 0, taken: true };
    for end in [vec![goodbye, RawFrame::Drop], vec![goodbye], vec![RawFrame::Drop]] {
        for requests in [20, 33, 50] {
            let play = |number: usize| match number % requests {
                0 => [vec![RawFrame::Good], end.clone()].concat(),
                _ => vec![RawFrame::Good],
            };
            let server = RawServer::start((1..=1200).map(play));
            let network = Network::new().with(1, &server);
            let connection = network.connection(&[1]).connect().await.unwrap();
            let (lost, _) = calls(&connection, &retrying().without_retries(), 1200, ms(16)).await;
            assert_eq!(lost, [""; 0], "{end:?} after {requests}");
            assert_eq!(network.dialed(1).len(), 1200 / requests + usize::from(1200 % requests > 0));
        }
    }
}

/// A server that is gone for a while costs no call whose total timeout is longer, few attempts, and no more connects than the back-off
/// allows.
#[tokio::test(start_paused = true)]
async fn a_restart_costs_no_call() {
    let outages = [ms(100), ms(300), Duration::from_secs(2), Duration::from_secs(30)];
    let (patient, hasty) = (retrying(), Setup::new(lasting(60_000)));
    for (outage, setup) in outages.iter().flat_map(|outage| [(*outage, &patient), (*outage, &hasty)]) {
        let plays = (0..2000).map(|number| match number {
            20 => vec![RawFrame::Good, RawFrame::Drop],
            _ => vec![RawFrame::Good],
        });
        let server = RawServer::start(plays);
        let network = Network::new().with(1, &server);
        let connection = network.connection(&[1]).connect().await.unwrap();
        let (lost, _) = calls(&connection, setup, 21, ms(50)).await;
        assert_eq!(lost, [""; 0]);
        network.remove(1);
        let down = VirtualClock::start();
        let back = tokio::spawn({
            let network = network.clone();
            async move {
                tokio::time::sleep(outage).await;
                network.set(1, &server);
                server
            }
        });
        let (lost, most) = calls(&connection, setup, 1000, ms(50)).await;
        drop(back.await.unwrap());
        assert_eq!(lost, [""; 0], "{outage:?}");
        assert!(down.elapsed() >= Duration::from_secs(50));
        let dialed = network.dialed(1);
        // Two quick ones, a fifth less than 50 and 100 ms after each other; then gRPC's back-off.
        let mut waits =
            [0.04, 0.08].into_iter().chain(std::iter::successors(Some(0.8), |wait| Some(wait * 1.6)));
        let mut attempts = 1;
        for (pair, wait) in dialed[1..].windows(2).zip(&mut waits) {
            assert!(pair[1].checked_sub(pair[0]).unwrap().as_secs_f64() >= wait, "{dialed:?}");
            attempts += 1;
        }
        if std::ptr::eq(setup, &raw const patient) {
            assert!(most <= attempts, "{most} attempts, but only {attempts} connects: {dialed:?}");
        }
    }
}

/// Those that waited for a connection are spread over their retry delay.
#[tokio::test(start_paused = true)]
async fn retries_that_waited_for_a_connection_do_not_come_at_once() {
    let (server, network) = (VirtualServer::start(Script::always(Reply::Serve)), Network::new());
    let connection = network.connection(&[1]).connect_lazy().unwrap();
    let running: JoinSet<_> = (0..100)
        .map(|_| {
            let connection = connection.clone();
            async move { report_of(&Stack::Layer.list(connection, &retrying().reporting()).await) }
        })
        .collect();
    tokio::time::sleep(ms(600)).await;
    network.set(1, &server);
    for report in running.join_all().await {
        let last = report.attempt_count();
        let delay = report.attempt_delay(last).unwrap();
        assert_eq!((last, delay.delay_type()), (2, DelayType::Backoff), "{report}");
    }
    let made = *network.dialed(1).last().unwrap();
    let came: Vec<_> = server.seen().iter().map(|(at, _)| ms(*at).checked_sub(made).unwrap()).collect();
    assert!(came.iter().all(|after| *after <= ms(201)), "{came:?}");
    for tenth in 0..10 {
        assert!(
            came.iter().any(|after| after.as_millis() / 20 == tenth),
            "none in the tenth {tenth}: {came:?}"
        );
    }
}

const WATCH: &str = "grpc.health.v1.Health/Watch";
const UP: BodyPart = BodyPart::Data(bytes::Bytes::from_static(&[0, 0, 0, 0, 2, 8, 1]));

/// As a sidecar does that limits the time of streams.
#[tokio::test(start_paused = true)]
async fn a_health_check_that_a_proxy_ends_costs_no_call() {
    for end in [BodyPart::trailers(&[("grpc-status", "0")]), BodyPart::trailers(&[("grpc-status", "14")])] {
        let watch = Reply::play([UP, BodyPart::Wait(ms(700)), end]);
        let script = Script::always(Reply::Serve).on(WATCH, vec![watch; 100]);
        let server = VirtualServer::start(script);
        let network = Network::new().with(1, &server);
        let connection = network.connection(&[1]).health_check("").connect().await.unwrap();
        let (lost, _) = calls(&connection, &retrying().without_retries(), 2000, ms(10)).await;
        assert_eq!(lost, [""; 0]);
        let watches = server.arrivals().len() - 2000;
        assert!((28..=30).contains(&watches), "{watches}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_health_check_has_the_credentials_that_are_named_for_it() {
    let script = Script::always(Reply::Serve).on(WATCH, [Reply::play([UP, BodyPart::Hang])]);
    let server = VirtualServer::start(script);
    let credentials = Credentials::new(|| async { Ok(AuthHeaders::bearer("t").unwrap()) });
    let connection = Network::new().with(1, &server).connection(&[1]).health_check("");
    let connection = connection.health_credentials(credentials).connect().await.unwrap();
    calls(&connection, &retrying(), 1, ms(0)).await;
    let arrivals = server.arrivals();
    let seen = arrivals.iter().map(|arrival| arrival.header("authorization"));
    assert_eq!(seen.collect::<Vec<_>>(), [Some("Bearer t"), None]);
}

/// Calls wait for a second, then they fail, with what is wrong.
#[tokio::test(start_paused = true)]
async fn a_health_check_that_is_not_repeated_ends_the_wait() {
    let cut = Reply::play([UP, BodyPart::Wait(ms(700)), BodyPart::trailers(&[("grpc-status", "0")])]);
    for (next, message, waited) in [
        (Reply::stall(), "the health check has no reply", 1000),
        (Reply::code(tonic::Code::Unauthenticated), "the health check failed", 0),
    ] {
        let script = Script::always(Reply::Serve).on(WATCH, [cut.clone(), next]);
        let server = VirtualServer::start(script);
        let connection = Network::new().with(1, &server).connection(&[1]).health_check("");
        let connection = connection.connect().await.unwrap();
        tokio::time::sleep(ms(701)).await;
        let start = VirtualClock::start();
        let status = Stack::Layer.list(connection, &retrying().without_retries()).await.unwrap_err();
        assert!(status.message().contains(message), "{status:?}");
        assert!((start.elapsed().as_millis()).abs_diff(waited) < 10, "{:?}", start.elapsed());
    }
}

/// `put_last` of an address is not undone by the resolver's next list.
#[tokio::test(start_paused = true)]
async fn an_address_that_was_given_up_stays_behind_the_others() {
    let bad = RawServer::start((0..1000).map(|_| vec![RawFrame::Drop]));
    let good = VirtualServer::start(Script::always(Reply::Serve));
    let network = Network::new().with(1, &bad).with(2, &good);
    let connection =
        network.connection(&[1, 2]).resolve_every(Duration::from_secs(1)).connect().await.unwrap();
    let (lost, most) = calls(&connection, &retrying(), 1000, ms(10)).await;
    assert_eq!((lost.len(), most), (0, 2));
    assert_eq!((network.dialed(1).len(), network.dialed(2).len()), (1, 1));
}

/// Another part of the addresses with each list.
struct Subsets(Arc<AtomicUsize>, Vec<Vec<u8>>);

impl Resolver for Subsets {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, Box<dyn std::error::Error + Send + Sync>>> {
        let time = self.0.fetch_add(1, Ordering::Relaxed);
        let addresses = self.1[time % self.1.len()].iter().map(|number| address(*number)).collect();
        Box::pin(async { Ok(addresses) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_gives_another_subset_each_time_costs_no_call_and_few_connections() {
    for picker in [Picker::First, Picker::RoundRobin] {
        for (subsets, most) in [(vec![vec![1], vec![2]], 2), (vec![vec![1], vec![2], vec![3]], 40)] {
            let servers = [(); 3].map(|()| VirtualServer::start(Script::always(Reply::Serve)));
            let mut network = Network::new();
            for (number, server) in (1..).zip(&servers) {
                network = network.with(number, server);
            }
            let asked = Arc::new(AtomicUsize::new(0));
            let connection =
                network.connection(&[]).picker(picker).resolver(Subsets(Arc::clone(&asked), subsets));
            let connection = connection.connect().await.unwrap();
            let (lost, _) = calls(&connection, &retrying().without_retries(), 1000, ms(600)).await;
            assert_eq!(lost, [""; 0]);
            let dialed: usize = (1..=3).map(|number| network.dialed(number).len()).sum();
            assert!(dialed <= most, "{dialed} connections with {picker:?}");
            assert!(asked.load(Ordering::Relaxed) <= 22, "{asked:?}");
        }
    }
}

/// The calls on the old connection end as they would have, and new ones wait for nothing.
#[tokio::test(start_paused = true)]
async fn an_address_that_is_gone_drains_once_there_is_another() {
    for picker in [Picker::First, Picker::RoundRobin] {
        let old = VirtualServer::start(Script::at_once([]).then_always(Duration::from_secs(5), Reply::Serve));
        let new = VirtualServer::start(Script::always(Reply::Serve));
        let (network, list) = (Network::new().with(1, &old), list(&[1]));
        let connection = network.connection_by(&list).picker(picker).connect().await.unwrap();
        let first = tokio::spawn({
            let connection = connection.clone();
            async move { calls(&connection, &retrying().without_retries(), 1, ms(0)).await }
        });
        tokio::time::sleep(ms(500)).await;
        // The new one is not up yet.
        list.replace([address(2)]);
        tokio::time::sleep(ms(500)).await;
        let second = calls(&connection, &retrying().without_retries(), 1, ms(0)).await;
        assert_eq!((second.0.len(), old.arrivals().len()), (0, 2), "{picker:?}");
        network.set(2, &new);
        tokio::time::sleep(Duration::from_secs(10)).await;
        calls(&connection, &retrying().without_retries(), 1, ms(0)).await;
        assert_eq!((first.await.unwrap().0.len(), new.arrivals().len()), (0, 1), "{picker:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn new_addresses_join_an_attempt_to_connect() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let (network, list) = (Network::new().with(1, Host::Stalls).with(2, &server), list(&[1]));
    let connection = network.connection_by(&list).connect_lazy().unwrap();
    let start = VirtualClock::start();
    let calling = tokio::spawn(async move { calls(&connection, &retrying(), 1, ms(0)).await });
    tokio::time::sleep(ms(1000)).await;
    list.replace([address(2)]);
    assert_eq!(calling.await.unwrap(), (Vec::new(), 1));
    assert_eq!(start.elapsed(), ms(1000));
}

/// A resolver that always says that something has changed.
struct Restless(Arc<Mutex<usize>>);

impl Resolver for Restless {
    fn resolve(&self) -> ResolveFuture<'_, Result<Vec<Address>, Box<dyn std::error::Error + Send + Sync>>> {
        *self.0.lock().unwrap() += 1;
        Box::pin(async { Ok(vec![address(1)]) })
    }

    fn changed(&self) -> ResolveFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_resolver_is_asked_ten_times_a_second_at_most() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let asked = Arc::new(Mutex::new(0));
    let connection = Network::new().with(1, &server).connection(&[]).resolver(Restless(Arc::clone(&asked)));
    let _connection = connection.connect().await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(*asked.lock().unwrap() <= 101, "{asked:?}");
}
