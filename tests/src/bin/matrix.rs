//! The same calls over tonic's `Channel` and over a `Connection`, through the testing kit's fault proxy in virtual time, with and without
//! retries: how many were lost, how many were lost or took longer than 250 ms, and how many attempts they made. Each cell has the range of
//! twenty seeds; a cell is worse if all of its range is above that of the other.
//!
//! `cargo run --release -p tonic-gax-tests --bin matrix`; a part of a row's name behind `--` runs that row only.
#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use bytes::Bytes;
use gax_client::GrpcTransport;
use gax_connection::{Address, AddressList, ConnectBackoff, Connection, Picker};
use gax_testing::{ConnectionFault, Direction, FaultProxy, Pipes, Script, VirtualServer, When};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::JoinSet;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint};
use tonic_gax::RetrySettings;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{Authority, Reply, Setup, Stack, TlsServer, VirtualClock, ms, report_of, reported};
use tower::util::Oneshot;
use tower_service::Service;

const SEEDS: u64 = 20;
/// The time between two calls.
const PACE: Duration = ms(10);
const LATE: Duration = ms(250);

/// Something that happens to the connections between client and server.
struct Scenario {
    name: &'static str,
    /// How long calls are begun.
    time: Duration,
    /// How long each connection takes.
    connecting: Duration,
    /// The faults of each of the first connections.
    first: fn(&mut Random) -> Vec<Vec<ConnectionFault>>,
    /// The faults of all others.
    always: Vec<ConnectionFault>,
    /// The server is away from the first moment to the second.
    outage: Option<(Duration, Duration)>,
    /// The outage is a certificate that has expired, until it is renewed.
    expires: bool,
    /// What `Connection` waits before it connects again.
    backoff: ConnectBackoff,
    /// What each of the servers does: `Channel` picks one of several by chance, `Connection` the next in turn.
    servers: fn() -> Vec<Script>,
}

impl Scenario {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            time: ms(3_000),
            connecting: Duration::ZERO,
            first: |_| Vec::new(),
            always: Vec::new(),
            outage: None,
            expires: false,
            backoff: ConnectBackoff::default(),
            servers: || vec![Script::always(Reply::Serve)],
        }
    }

    /// A restart that takes so long.
    fn restart(name: &'static str, away: Duration) -> Self {
        Self { time: ms(1_000) + away, outage: Some((ms(500), ms(500) + away)), ..Self::new(name) }
    }

    fn all() -> Vec<Self> {
        let goodbye = |when| ConnectionFault::GoAway { when, reason: 0, data: Bytes::new() };
        let quick = ConnectBackoff::default().initial(ms(100)).max(ms(100));
        let slow = || vec![Script::of([(ms(200), Reply::Serve)])];
        vec![
            Self { always: vec![goodbye(When::Requests(20))], ..Self::new("GOAWAY after 20 requests") },
            Self { always: vec![goodbye(When::Time(ms(300)))], ..Self::new("GOAWAY after 300 ms") },
            Self {
                first: |_| {
                    vec![vec![ConnectionFault::GoAway { when: When::Start, reason: 0, data: Bytes::new() }]]
                },
                ..Self::new("GOAWAY on the first connection")
            },
            Self::restart("restart of 100 ms", ms(100)),
            Self::restart("restart of 300 ms", ms(300)),
            Self::restart("restart of 2 s", ms(2_000)),
            Self::restart("outage of 30 s", ms(30_000)),
            Self { backoff: quick, ..Self::restart("restart of 300 ms, initial back-off 100 ms", ms(300)) },
            Self { backoff: quick, ..Self::restart("restart of 2 s, longest back-off 100 ms", ms(2_000)) },
            Self { backoff: quick, ..Self::restart("outage of 30 s, longest back-off 100 ms", ms(30_000)) },
            Self {
                outage: Some((Duration::ZERO, ms(2_000))),
                expires: true,
                ..Self::new("a certificate has expired and is renewed after 2 s")
            },
            Self {
                first: |_| vec![vec![ConnectionFault::Close(When::Start)]; 2],
                ..Self::new("two connections accepted and closed")
            },
            Self {
                first: |random| {
                    let dead = |is_dead| {
                        if is_dead { vec![ConnectionFault::Reset(When::Start)] } else { Vec::new() }
                    };
                    (0..2_000).map(|_| dead(random.below(3) == 0)).collect()
                },
                always: vec![ConnectionFault::Reset(When::Time(ms(400)))],
                ..Self::new("one of three servers behind an address dead")
            },
            Self {
                first: |_| vec![vec![ConnectionFault::Reset(When::Time(ms(550)))]; 6],
                time: ms(5_000),
                ..Self::new("RST after 550 ms, six times")
            },
            Self {
                first: |_| vec![vec![ConnectionFault::HalfOpen(When::Time(ms(1_000)))]],
                ..Self::new("a NAT forgets the connection")
            },
            Self {
                first: |_| {
                    let (direction, when) = (Direction::Request, When::Bytes(Direction::Request, 1_400));
                    vec![vec![ConnectionFault::Stall { direction, when, time: None }]]
                },
                ..Self::new("large segments vanish")
            },
            Self { connecting: ms(1_500), ..Self::new("CONNECT takes 1.5 s") },
            Self {
                always: vec![ConnectionFault::StreamLimit(When::Start, 1)],
                ..Self::new("one stream a connection")
            },
            Self {
                always: vec![goodbye(When::Time(ms(500)))],
                servers: slow,
                ..Self::new("a greatest age of 500 ms, calls of 200 ms")
            },
            Self {
                first: |_| vec![vec![ConnectionFault::StreamLimit(When::Start, 100)]],
                always: vec![ConnectionFault::Close(When::Start)],
                servers: slow,
                ..Self::new("one connection a client")
            },
            Self {
                servers: || {
                    let busy = || Script::of([(ms(20), Reply::Serve)]);
                    vec![busy(), busy(), Script::always(Reply::unavailable())]
                },
                ..Self::new("one of three servers fails at once")
            },
        ]
    }
}

/// Numbers by a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// What is compared of an outcome.
type Value = fn(&Outcome) -> u64;

/// What became of the calls of one run, or the least and most of all.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    lost: u64,
    late: u64,
    /// A hundred times the attempts of a call.
    attempts: u64,
}

#[derive(Debug, Clone, Copy)]
struct Range(u64, u64);

impl Range {
    fn of(outcomes: &[Outcome], value: impl Fn(&Outcome) -> u64) -> Self {
        let values = || outcomes.iter().map(&value);
        Self(values().min().unwrap_or_default(), values().max().unwrap_or_default())
    }

    fn is_above(self, other: Self) -> bool {
        self.0 > other.1
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == self.1 { write!(f, "{}", self.0) } else { write!(f, "{} to {}", self.0, self.1) }
    }
}

/// Calls over that transport while the scenario happens.
async fn calls<T: GrpcTransport + Sync>(
    transport: T,
    scenario: &Scenario,
    setup: &Setup,
    away: impl Fn(bool),
) -> Outcome {
    let caller = Stack::Layer.caller(transport, setup);
    let (start, mut running) = (VirtualClock::start(), JoinSet::new());
    let mut outage = scenario.outage;
    let mut is_away = false;
    while start.elapsed() < scenario.time {
        if let Some((from, until)) = outage {
            if !is_away && start.elapsed() >= from {
                away(true);
                is_away = true;
            }
            if start.elapsed() >= until {
                away(false);
                outage = None;
            }
        }
        let mut caller = caller.clone();
        running.spawn(async move {
            let clock = VirtualClock::start();
            let result = caller.list(reported(ListAssetsRequest::default())).await;
            (result.is_ok(), clock.elapsed(), u64::from(report_of(&result).attempt_count()))
        });
        tokio::time::sleep(PACE).await;
    }
    let (mut outcome, mut count) = (Outcome::default(), 0);
    while let Some(Ok((is_ok, time, attempts))) = running.join_next().await {
        outcome.lost += u64::from(!is_ok);
        outcome.late += u64::from(!is_ok || time > LATE);
        outcome.attempts += attempts * 100;
        count += 1;
    }
    Outcome { attempts: outcome.attempts / count.max(1), ..outcome }
}

/// One run over a channel, or over a connection.
async fn run(scenario: &Scenario, is_channel: bool, retries: bool, seed: u64) -> Outcome {
    let total = ms(10_000)
        .max(scenario.outage.map_or(Duration::ZERO, |(from, until)| 2 * until.saturating_sub(from)));
    let settings = RetrySettings::builder().initial_rpc_timeout(ms(300)).total_timeout(total);
    let settings =
        settings.initial_retry_delay(ms(100)).max_attempts(if total > ms(10_000) { 100 } else { 5 });
    let Ok(settings) = settings.build() else { return Outcome::default() };
    let setup = Setup::new(settings).seeded(seed);
    let setup = if retries { setup } else { setup.without_retries() };
    if scenario.expires {
        let ours = Authority::new("ours");
        let expired = ours.server("server.test", [2000, 2001], &["h2"]);
        let server = TlsServer::start([expired]);
        let away = |is_away: bool| {
            if !is_away {
                server.replace(ours.good(&["h2"]));
            }
        };
        return if is_channel {
            calls(server.channel(Some(ours.channel_tls())), scenario, &setup, away).await
        } else {
            calls(server.connection(ours.connection_tls()), scenario, &setup, away).await
        };
    }
    let servers: Vec<_> = (scenario.servers)().into_iter().map(VirtualServer::start).collect();
    let proxies: Vec<_> = servers.iter().map(|server| FaultProxy::in_memory(server.connector())).collect();
    for (proxy, _) in &proxies {
        for faults in (scenario.first)(&mut Random(seed)) {
            proxy.next(faults);
        }
        proxy.always(scenario.always.clone());
    }
    let (proxies, pipes): (Vec<_>, Vec<_>) = proxies.into_iter().unzip();
    let away = |is_away: bool| {
        for proxy in &proxies {
            if is_away {
                proxy.always([ConnectionFault::Refuse]);
                proxy.now(&ConnectionFault::Reset(When::Start));
            } else {
                proxy.always([]);
            }
        }
    };
    let connecting = scenario.connecting;
    let connect = move |pipes: Pipes| async move {
        tokio::time::sleep(connecting).await;
        pipes.connect()
    };
    if is_channel {
        let mut channels = pipes.into_iter().map(|pipes| {
            let connector = tower::service_fn(move |_: http::Uri| connect(pipes.clone()));
            Endpoint::from_static("http://server").connect_with_connector_lazy(connector)
        });
        let Some(first) = channels.next() else { return Outcome::default() };
        let random = Arc::new(Mutex::new(Random(seed)));
        let channels = Balanced { first, others: channels.collect(), random };
        calls(channels, scenario, &setup, away).await
    } else {
        let addresses = (0..).zip(&pipes).map(|(port, _)| SocketAddr::from(([10, 0, 0, 1], port)));
        let list = AddressList::new(addresses.map(Address::from));
        let connection = Connection::to("http://server").resolver(list).picker(Picker::RoundRobin);
        let connection = connection.connect_backoff(scenario.backoff).connector(move |address| {
            let port = if let Address::Tcp(address) = address { address.port() } else { 0 };
            let pipes = pipes.get(usize::from(port)).cloned();
            async move {
                let pipes = pipes.ok_or(io::ErrorKind::AddrNotAvailable)?;
                Ok(connect(pipes).await?.into_inner())
            }
        });
        let Ok(connection) = connection.connect_lazy() else { return Outcome::default() };
        calls(connection, scenario, &setup, away).await
    }
}

/// Channels of which each call takes one by chance, as `Channel::balance_list` does.
#[derive(Clone)]
struct Balanced {
    first: Channel,
    others: Vec<Channel>,
    random: Arc<Mutex<Random>>,
}

impl Service<http::Request<Body>> for Balanced {
    type Response = http::Response<Body>;
    type Error = tonic::transport::Error;
    type Future = Oneshot<Channel, http::Request<Body>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let others = self.others.len();
        let chosen = usize::try_from(random.below(others as u64 + 1)).unwrap_or(others);
        Oneshot::new(self.others.get(chosen).unwrap_or(&self.first).clone(), request)
    }
}

fn outcomes(scenario: &Scenario, is_channel: bool, retries: bool) -> io::Result<Vec<Outcome>> {
    let run = |seed| {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
        Ok(runtime.block_on(run(scenario, is_channel, retries, seed)))
    };
    (1..=SEEDS).map(run).collect()
}

fn main() -> ExitCode {
    let only: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "situation | retries | lost: Channel, Connection | lost or later than 250 ms | attempts of 100 calls | worse"
    );
    println!("--- | --- | --- | --- | --- | ---");
    for scenario in Scenario::all() {
        if !only.is_empty() && !only.iter().any(|part| scenario.name.contains(part.as_str())) {
            continue;
        }
        for retries in [true, false] {
            let (Ok(channel), Ok(connection)) =
                (outcomes(&scenario, true, retries), outcomes(&scenario, false, retries))
            else {
                return ExitCode::FAILURE;
            };
            let values: [(&str, Value); 3] = [
                ("lost", |outcome| outcome.lost),
                ("late", |outcome| outcome.late),
                ("attempts", |outcome| outcome.attempts),
            ];
            let (mut cells, mut worse) = (Vec::new(), Vec::new());
            for (name, value) in values {
                let (theirs, ours) = (Range::of(&channel, value), Range::of(&connection, value));
                cells.push(format!("{theirs}, {ours}"));
                worse.extend(ours.is_above(theirs).then_some(name));
            }
            let retries = if retries { "yes" } else { "no" };
            println!("{} | {retries} | {} | {}", scenario.name, cells.join(" | "), worse.join(", "));
        }
    }
    ExitCode::SUCCESS
}
