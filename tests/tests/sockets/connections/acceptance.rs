//! Misbehaviours of servers, proxies and resolvers, and their orderly endings: each row has at least 1,000 calls under the retry layer over a
//! `Connection`, and loses none. So tonic's `Channel` can't lose fewer; a row that fails says how many that loses.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::network::{Network, list};
use gax_client::GrpcTransport;
use gax_connection::{Connection, ConnectionBuilder, Picker};
use gax_testing::{Direction, Resolution, ScriptedResolver};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::JoinSet;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::AssetServiceServer;
use tonic_gax_tests::{
    Assets, BodyPart, ConnectionFault as Fault, FaultProxy, MemoryConnector, RawFrame, RawServer, Reply,
    Script, Setup, SocketServer, Stack, VirtualServer, When, lasting, ms,
};

/// One thing that happens while calls are made.
#[derive(Debug, Clone)]
enum Step {
    /// These are the faults of connections from now on.
    Always(Vec<Fault>),
    /// These are the faults of the next connection.
    Next(Vec<Fault>),
    /// This happens to all connections.
    Now(Fault),
    Wait(Duration),
}
use Step::{Always, Next, Now, Wait};

#[derive(Debug, Clone)]
struct Row {
    name: String,
    steps: Vec<Step>,
    calls: usize,
    /// How many calls begin at a time, and how often.
    load: (usize, Duration),
}

fn row(name: impl Into<String>, steps: impl Into<Vec<Step>>) -> Row {
    Row { name: name.into(), steps: steps.into(), calls: 1000, load: (1, ms(16)) }
}

impl Row {
    /// So many calls, one each so often.
    fn calls(self, calls: usize, every: Duration) -> Self {
        Self { calls, load: (1, every), ..self }
    }

    /// Makes the calls while the steps happen. Returns the errors of those that were lost.
    async fn play<T: GrpcTransport + Sync>(&self, proxy: &FaultProxy, to: T) -> Vec<String> {
        let steps = async {
            for step in self.steps.clone() {
                match step {
                    Always(faults) => proxy.always(faults),
                    Next(faults) => proxy.next(faults),
                    Now(fault) => proxy.now(&fault),
                    Wait(time) => tokio::time::sleep(time).await,
                }
            }
        };
        tokio::join!(steps, self.lost(to)).1
    }

    /// Makes the calls, each with a minute. Returns the errors of those that were lost.
    async fn lost<T: GrpcTransport + Sync>(&self, to: T) -> Vec<String> {
        let (mut running, (at_once, every)) = (JoinSet::new(), self.load);
        let caller = Stack::Layer.caller(to, &Setup::new(lasting(60_000)));
        for call in 0..self.calls {
            if call % at_once == 0 && call > 0 {
                tokio::time::sleep(every).await;
            }
            let mut caller = caller.clone();
            running.spawn(async move { caller.list(ListAssetsRequest::default()).await.map(drop) });
        }
        let ended = running.join_all().await;
        ended.into_iter().filter_map(|result| result.err().map(|status| status.to_string())).collect()
    }

    /// In virtual time, over a proxy to that server, and over a `Channel` if that is worth it.
    async fn check(&self, server: &MemoryConnector, with: impl Fn(ConnectionBuilder) -> ConnectionBuilder) {
        let (proxy, pipes) = FaultProxy::in_memory(server.clone());
        let connection = with(Network::new().with(1, &pipes).connection(&[1]));
        let lost = self.play(&proxy, connection.connect_lazy().unwrap()).await;
        if !lost.is_empty() {
            let (proxy, pipes) = FaultProxy::in_memory(server.clone());
            let beside = self.play(&proxy, pipes.channel()).await;
            self.fail(&lost, beside.len());
        }
    }

    fn fail(&self, lost: &[String], beside: usize) {
        let (name, all, first) = (&self.name, self.calls, lost.first());
        assert!(
            lost.is_empty(),
            "{name}: {} of {all} lost, {beside} over a Channel, such as {first:?}",
            lost.len()
        );
    }
}

const WATCH: &str = "grpc.health.v1.Health/Watch";
const UP: BodyPart = BodyPart::Data(bytes::Bytes::from_static(&[0, 0, 0, 0, 2, 8, 1]));
const DOWN: BodyPart = BodyPart::Data(bytes::Bytes::from_static(&[0, 0, 0, 0, 2, 8, 2]));
const NO_ERROR: u32 = 0;

/// A server that replies after 10 ms, so that calls are in flight whatever happens. After so many its health check fails.
fn healthy(time: Duration) -> VirtualServer {
    let watch = vec![Reply::play([UP, BodyPart::Wait(time), DOWN, BodyPart::Hang]); 2000];
    VirtualServer::start(Script::at_once([]).then_always(ms(10), Reply::Serve).on(WATCH, watch))
}

const DAY: Duration = Duration::from_secs(86_400);

/// Plays these rows.
async fn play(rows: impl IntoIterator<Item = Row>) {
    for row in rows {
        let plays = std::iter::repeat_n(vec![RawFrame::Wait(ms(10)), RawFrame::Good], 10 * row.calls);
        row.check(&RawServer::start(plays).connector(), |connection| connection).await;
    }
}

fn goaway(when: When, reason: u32, data: &'static str) -> Fault {
    Fault::GoAway { when, reason, data: bytes::Bytes::from_static(data.as_bytes()) }
}

#[tokio::test(start_paused = true)]
async fn goodbyes_in_good_order() {
    let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    let requests = [(1, 1000), (20, 1000), (50, 1000), (1000, 2000)].map(|(requests, calls)| {
        let bye = goaway(When::Requests(requests), NO_ERROR, "");
        row(format!("GOAWAY after {requests} requests"), [Always(vec![bye])]).calls(calls, ms(16))
    });
    let times = [(ms(300), ms(16)), (10 * second, ms(50)), (30 * minute, 5 * second)].map(|(time, every)| {
        let bye = goaway(When::Time(time), NO_ERROR, "");
        row(format!("GOAWAY after {time:?}"), [Always(vec![bye])]).calls(1000, every)
    });
    play(requests.into_iter().chain(times)).await;
}

/// A `Channel` watches no health.
#[tokio::test(start_paused = true)]
async fn health_checks_that_a_proxy_ends() {
    for (after, every) in [(ms(700), ms(16)), (ms(15_000), ms(100)), (ms(3_600_000), ms(20_000))] {
        for reset in [None, Some(0), Some(8)] {
            let steps = [Always(vec![Fault::EndStreams { after, reset }])];
            let row = row(format!("streams end after {after:?}: {reset:?}"), steps).calls(340, every);
            row.check(&healthy(DAY).connector(), |connection| connection.health_check("")).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn restarts() {
    let rows = [100, 300, 2000, 30_000].into_iter().flat_map(|outage| {
        let ends = [Fault::Close(When::Start), Fault::Reset(When::Start), goaway(When::Start, NO_ERROR, "")];
        ends.map(|end| {
            let name = format!("down for {outage} ms after {end:?}");
            let down = [Wait(ms(1000)), Always(vec![Fault::Refuse]), Now(end), Wait(ms(outage))];
            row(name, [&down[..], &[Always(Vec::new())]].concat()).calls(340, ms(50))
        })
    });
    play(rows).await;
}

/// New connections have that fault for so many milliseconds, and those before end in that way.
fn outage(name: &str, fault: Fault, end: Fault, time: u64) -> Row {
    let steps = [Wait(ms(500)), Always(vec![fault]), Now(end), Wait(ms(time)), Always(Vec::new())];
    row(name, steps)
}

#[tokio::test(start_paused = true)]
async fn disorderly_endings() {
    let text = |text: &'static str| Fault::Reply(bytes::Bytes::from_static(text.as_bytes()));
    let in_response = |bytes| When::Bytes(Direction::Response, bytes);
    let outage = |name, fault| outage(name, fault, Fault::Close(When::Start), 5000);
    let refused = [Always(vec![Fault::Refuse]), Now(Fault::Close(When::Start)), Wait(ms(300))];
    let turn = [&refused[..], &[Always(Vec::new()), Wait(ms(300))]].concat();
    play([
        row("six resets", vec![Next(vec![Fault::Reset(When::Time(ms(550)))]); 6]),
        row("resets, for ever", [Always(vec![Fault::Reset(When::Time(ms(550)))])]),
        row("killed in mid-message", [Always(vec![Fault::Reset(in_response(1003))])]),
        row("closed in mid-message", [Always(vec![Fault::Close(in_response(1003))])]),
        outage("accepted and closed", Fault::Close(When::Start)),
        outage("accepted and reset", Fault::Reset(When::Start)),
        outage("closed after SETTINGS", Fault::Close(When::Time(ms(1)))),
        outage("closed before a response", Fault::Close(When::Requests(1))),
        outage("reset before a response", Fault::Reset(When::Requests(1))),
        outage("an HTTP/1.1 response", text("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")),
        outage("a TLS alert", text("\x15\x03\x01\x00\x02\x02\x50")),
        outage("refused", Fault::Refuse),
        outage("a first byte after the connect timeout", Fault::Delay(Direction::Response, ms(25_000))),
        row("too many pings", [Always(vec![goaway(When::Requests(20), 11, "too_many_pings")])]),
        row("too many of something else", [Always(vec![goaway(When::Requests(20), 11, "slow down")])]),
        row("GOAWAY with INTERNAL_ERROR", [Always(vec![goaway(When::Requests(20), 2, "")])]),
        row("refused and not, in turn", vec![turn; 10].concat()),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn silence() {
    let pause = |direction| {
        let (when, time) = (When::Time(ms(1000)), Some(ms(20_000)));
        [Always(vec![Fault::Stall { direction, when, time }])]
    };
    let (silent, after) = (Fault::HalfOpen(When::Start), Fault::HalfOpen(When::Requests(100)));
    play([
        row("half-open", [Wait(ms(1000)), Now(silent.clone())]),
        row("half-open after 100 requests", [Always(vec![after])]).calls(1000, ms(50)),
        outage("a black hole", silent.clone(), silent.clone(), 5000).calls(1000, ms(50)),
        row("never SETTINGS", [Always(vec![silent]), Wait(ms(5000)), Always(Vec::new())]),
        row("a server that reads nothing for 20 s", pause(Direction::Request)),
        row("a server that sends nothing for 20 s", pause(Direction::Response)),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn limits() {
    let limit = |streams| Fault::StreamLimit(When::Start, streams);
    let (lowered, raised) =
        (Fault::StreamLimit(When::Requests(50), 1), Fault::StreamLimit(When::Requests(0), 9));
    let slow = Fault::Drip { direction: Direction::Response, bytes: 20, every: ms(1) };
    let none = [Always(vec![limit(0)]), Wait(ms(5000)), Always(Vec::new()), Now(raised)];
    let many = |row: Row| Row { load: (200, ms(10_000)), ..row };
    play([
        row("no stream for 5 s", none),
        many(row("one stream", [Always(vec![limit(1)])])),
        many(row("ten streams", [Always(vec![limit(10)])])),
        many(row("lowered to one", [Always(vec![limit(100), lowered])])),
        row("a window of a byte", [Always(vec![Fault::Window(1)])]),
        row("frames of a byte", [Always(vec![Fault::TinyFrames(1)])]),
        row("a slow network", [Always(vec![slow])]),
    ])
    .await;
}

const PICKERS: [Picker; 3] = [Picker::First, Picker::RoundRobin, Picker::LeastInFlight];

/// One list each second or tenth of a second.
#[tokio::test(start_paused = true)]
async fn resolvers() {
    let host = |number: u8| SocketAddr::from(([10, 0, 0, number], 1));
    let list = |hosts: &[u8]| Resolution::Addresses(hosts.iter().map(|number| host(*number)).collect());
    let error = || Resolution::Error("no such host".to_owned());
    let dead = (1..=998).map(|port| SocketAddr::from(([10, 0, 0, 9], port)));
    let many = Resolution::Addresses(dead.chain([host(1), host(2)]).collect());
    for (name, results) in [
        ("the same, reversed, doubled", vec![list(&[1, 2]), list(&[2, 1]), list(&[1, 1, 2, 2])]),
        ("another subset each time", vec![list(&[1]), list(&[2])]),
        ("another subset each time, with a dead one", vec![list(&[1, 9]), list(&[9, 2]), list(&[2, 1])]),
        ("a set that moves", [vec![list(&[1]); 3], vec![list(&[2]); 3]].concat()),
        ("empty in turn", vec![list(&[1, 2]), list(&[])]),
        ("an error in turn", vec![error(), list(&[1, 2]), error()]),
        ("no result from the second time on", vec![list(&[1, 2]), Resolution::Hang]),
        ("1,000 of which two work", vec![many]),
    ] {
        let servers = [(); 2].map(|()| healthy(DAY));
        let network = Network::new().with(1, &servers[0]).with(2, &servers[1]);
        for (picker, changes) in PICKERS.into_iter().flat_map(|picker| [(picker, false), (picker, true)]) {
            let resolver = ScriptedResolver::new(results.iter().cloned().cycle().take(1000));
            let resolver = if changes { resolver.changing() } else { resolver };
            let connection = network.connection(&[]).resolver(resolver).picker(picker);
            let connection = connection.resolve_every(ms(1000)).connect_lazy().unwrap();
            let row = row(format!("{name}, {picker:?}, changes: {changes}"), []).calls(200, ms(80));
            row.fail(&row.lost(connection).await, 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_of_two_endpoints() {
    let (closed, silent) = (Fault::Close(When::Start), Fault::HalfOpen(When::Start));
    let drained = outage("drained", Fault::Refuse, closed.clone(), 120_000);
    let goodbye = [Wait(ms(3000)), Now(goaway(When::Start, NO_ERROR, ""))];
    for row in [
        Row { steps: [&goodbye[..], &drained.steps].concat(), ..drained },
        outage("gone", Fault::Refuse, closed.clone(), 120_000),
        outage("half-open", silent.clone(), silent.clone(), 120_000),
        outage("accepted and closed", closed.clone(), closed, 120_000),
        row("never SETTINGS", [Always(vec![silent])]),
        row("resets", [Always(vec![Fault::Reset(When::Time(ms(550)))])]),
    ] {
        for (picker, is_checked) in PICKERS.into_iter().flat_map(|picker| [(picker, false), (picker, true)]) {
            let bad = healthy(if row.name == "drained" { ms(2000) } else { DAY });
            let (good, (proxy, pipes)) = (healthy(DAY), FaultProxy::in_memory(bad.connector()));
            let network = Network::new().with(1, &pipes).with(2, &good);
            let connection = network.connection_by(&list(&[1, 2])).picker(picker);
            let connection = if is_checked { connection.health_check("") } else { connection };
            let row = Row { name: format!("{}, {picker:?}, {is_checked}", row.name), ..row.clone() };
            let row = row.calls(200, ms(50));
            row.fail(&row.play(&proxy, connection.connect_lazy().unwrap()).await, 0);
        }
    }
}

/// The rows that need a kernel, over sockets and with a real clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sockets() {
    let reset = Fault::Reset(When::Start);
    let mut running = JoinSet::new();
    for row in [
        row("resets", [Always(vec![Fault::Reset(When::Time(ms(150)))])]),
        row("killed in mid-message", [Always(vec![Fault::Reset(When::Bytes(Direction::Response, 5003))])]),
        outage("a restart of 100 ms", Fault::Refuse, reset.clone(), 100),
        outage("a restart of 300 ms", Fault::Refuse, reset.clone(), 300),
        outage("accepted and reset", reset.clone(), reset, 500),
    ] {
        running.spawn(async move {
            let service = AssetServiceServer::new(Assets::default());
            let router = tonic::transport::Server::builder().add_service(service);
            let server = SocketServer::grpc(SocketServer::ANY_PORT, router);
            let (proxy, address) = FaultProxy::listen(server.address()).await.unwrap();
            let connection = Connection::to(format!("http://{address}")).connect_lazy().unwrap();
            let row = row.calls(1000, ms(2));
            row.fail(&row.play(&proxy, connection).await, 0);
        });
    }
    running.join_all().await;
}
