//! Connections to two hosts of two endpoints each, which are cut, refuse, say goodbye and fall silent by a random schedule. A call that
//! can be retried always ends well, one that can't is served once at most, and none reaches a host that it isn't for.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_connection::{Address, AddressList, Connection};
use gax_table::RetryTable;
use gax_testing::{ConnectionFault, Direction, FaultProxy, Pipes, Script, VirtualServer, When};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming};
use tonic_gax::{Code, CodeSet, RetryLayer, RetrySettings};
use tonic_gax_tests::chaos::{Draw, SeedOutcome, Seeds};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::{line, ms, virtual_time};

const HOSTS: [&str; 2] = ["http://one.test", "http://two.test"];
/// The endpoints of each host.
const ENDPOINTS: usize = 2;
/// The calls to each host, of which each second one can't be retried.
const CALLS: u32 = 40;
/// The time in which calls and faults begin.
const TIME: u64 = 20_000;

/// A fault of one endpoint.
#[derive(Debug, Clone)]
struct Fault {
    at: Duration,
    endpoint: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Its connections break, in this way.
    Cut,
    Close,
    Silence,
    /// Its connections break, and so long those that follow are refused, or silent from the start, ..
    Refuses(Duration),
    Silent(Duration),
    /// .. are cut in mid-message, say goodbye after a few requests for one reason or another, or end streams that last.
    Cuts(Duration, u64),
    GoesAway(Duration, u32),
    Limited(Duration),
}

impl Fault {
    fn draw(draw: &mut Draw) -> Self {
        let time = draw.ms(1, 5000);
        let kind = match draw.below(8) {
            0 => Kind::Cut,
            1 => Kind::Close,
            2 => Kind::Silence,
            3 => Kind::Refuses(time),
            4 => Kind::Silent(time),
            5 => Kind::Cuts(time, draw.between(1, 600)),
            6 => Kind::GoesAway(time, draw.pick(&[0, 0, 2, 11])),
            _ => Kind::Limited(time),
        };
        let endpoint = usize::try_from(draw.below(4)).unwrap();
        Self { at: draw.ms(0, TIME), endpoint, kind }
    }

    fn schedule(seed: u64) -> Vec<Self> {
        let mut draw = Draw::new(seed);
        (0..draw.below(14)).map(|_| Self::draw(&mut draw)).collect()
    }

    /// Lets it happen.
    async fn happen(self, proxy: Arc<FaultProxy>) {
        let goodbye =
            |reason| ConnectionFault::GoAway { when: When::Requests(2), reason, data: Bytes::new() };
        sleep(self.at).await;
        let (now, time, then) = match self.kind {
            Kind::Cut => (ConnectionFault::Reset(When::Start), Duration::ZERO, None),
            Kind::Close => (ConnectionFault::Close(When::Start), Duration::ZERO, None),
            Kind::Silence => (ConnectionFault::HalfOpen(When::Start), Duration::ZERO, None),
            Kind::Refuses(time) => (ConnectionFault::Reset(When::Start), time, Some(ConnectionFault::Refuse)),
            Kind::Silent(time) => {
                let silent = ConnectionFault::HalfOpen(When::Start);
                (ConnectionFault::Reset(When::Start), time, Some(silent))
            }
            Kind::Cuts(time, bytes) => {
                let cut = ConnectionFault::Reset(When::Bytes(Direction::Response, bytes));
                (ConnectionFault::Reset(When::Start), time, Some(cut))
            }
            Kind::GoesAway(time, reason) => {
                (ConnectionFault::Close(When::Start), time, Some(goodbye(reason)))
            }
            Kind::Limited(time) => {
                let ended = ConnectionFault::EndStreams { after: ms(5), reset: Some(8) };
                (ConnectionFault::Close(When::Start), time, Some(ended))
            }
        };
        proxy.now(&now);
        if let Some(then) = then {
            proxy.always([then]);
            sleep(time).await;
            proxy.always([]);
            // Connections that were made meanwhile keep their fault.
            proxy.now(&ConnectionFault::Close(When::Start));
        }
    }
}

/// A host, whichever of its endpoints a request comes by: which calls it served, and how often.
#[derive(Debug, Clone, Default)]
struct Host(Arc<Mutex<HashMap<u32, u32>>>);

impl Host {
    async fn serve(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        let number = request.into_inner().count;
        *self.0.lock().unwrap().entry(number).or_default() += 1;
        sleep(ms(10)).await;
        Ok(Response::new(line(number)))
    }
}

#[tonic::async_trait]
impl Talk for Host {
    async fn ask(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        self.serve(request).await
    }

    async fn guess(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        self.serve(request).await
    }

    async fn listen(&self, _: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented("listen"))
    }

    async fn tell(&self, _: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("tell"))
    }

    async fn chat(&self, _: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented("chat"))
    }
}

/// A connection to these endpoints.
fn connection(host: &str, endpoints: &[Pipes]) -> Connection {
    let address = |number: usize| SocketAddr::from(([10, 0, 0, 1], u16::try_from(number).unwrap()));
    let addresses = AddressList::new((0..endpoints.len()).map(|number| Address::from(address(number))));
    let endpoints = endpoints.to_vec();
    let connection = Connection::to(host).resolver(addresses).connector(move |to| {
        let place = (0..endpoints.len()).find(|number| Address::from(address(*number)) == to);
        let connected = endpoints[place.unwrap()].connect().map(hyper_util::rt::TokioIo::into_inner);
        async { connected }
    });
    connection.connect_lazy().unwrap()
}

/// Attempts of half a second, for two minutes, which is longer than any outage.
fn table() -> RetryTable {
    let settings = RetrySettings::builder()
        .initial_retry_delay(ms(50))
        .retry_delay_multiplier(1.5)
        .max_retry_delay(ms(1000))
        .initial_rpc_timeout(ms(500))
        .max_rpc_timeout(ms(500))
        .total_timeout(ms(120_000))
        .build()
        .unwrap();
    let table = RetryTable::builder().method("/test.talk.v1.Talk/Ask", settings.clone(), CODES).method(
        "/test.talk.v1.Talk/Guess",
        settings,
        CodeSet::EMPTY,
    );
    table.build().unwrap()
}

/// The codes of all these faults: resets of a stream and of a connection among them.
const CODES: [Code; 5] =
    [Code::Unavailable, Code::DeadlineExceeded, Code::Cancelled, Code::Internal, Code::ResourceExhausted];

async fn outcome(schedule: &[Fault]) -> SeedOutcome {
    let (hosts, layer) = ([Host::default(), Host::default()], RetryLayer::new(table()));
    let (mut proxies, mut calls, mut faults) = (Vec::new(), JoinSet::new(), JoinSet::new());
    for (place, host) in hosts.iter().enumerate() {
        let mut endpoints = Vec::new();
        for _ in 0..ENDPOINTS {
            let server = VirtualServer::serving(TalkServer::new(host.clone()), Script::new());
            let (proxy, pipes) = FaultProxy::in_memory(server.connector());
            proxies.push(Arc::new(proxy));
            endpoints.push(pipes);
        }
        let client = TalkClient::new(layer.layer(connection(HOSTS[place], &endpoints)));
        for number in 0..CALLS {
            let (mut client, number) = (client.clone(), 1000 * u32::try_from(place).unwrap() + number);
            calls.spawn(async move {
                sleep(ms(TIME / u64::from(CALLS) * u64::from(number % 1000))).await;
                let called = if number % 2 == 0 {
                    client.ask(line(number)).await
                } else {
                    client.guess(line(number)).await
                };
                (number, called.map(|reply| reply.into_inner().count))
            });
        }
    }
    for fault in schedule {
        faults.spawn(fault.clone().happen(Arc::clone(&proxies[fault.endpoint])));
    }
    let mut ends = calls.join_all().await;
    ends.sort_by_key(|(number, _)| *number);
    let served = hosts.map(|host| host.0.lock().unwrap().clone());
    let mut outcome = SeedOutcome::of(String::new());
    outcome.broken = broken(&ends, &served, schedule.is_empty());
    outcome.story = format!("{ends:?}\n{served:?}");
    outcome
}

type CallEnd = (u32, Result<u32, Status>);

/// A sentence for each promise that was broken.
fn broken(ends: &[CallEnd], served: &[HashMap<u32, u32>; 2], is_calm: bool) -> Vec<String> {
    let mut broken = Vec::new();
    for (place, host) in served.iter().enumerate() {
        let strangers = host.keys().filter(|number| usize::try_from(*number / 1000) != Ok(place));
        broken.extend(strangers.map(|number| format!("call {number} came to {}", HOSTS[place])));
    }
    for (number, end) in ends {
        let times: u32 = served.iter().filter_map(|host| host.get(number)).sum();
        let is_retried = number % 2 == 0;
        match end {
            Ok(reply) if reply != number || times == 0 => {
                broken.push(format!("call {number} got {reply}, and was served {times} times"));
            }
            Err(status) if is_retried || is_calm => broken.push(format!("call {number} was lost: {status}")),
            _ => {}
        }
        if !is_retried && times > 1 {
            broken.push(format!("call {number} can't be retried, and was served {times} times"));
        }
    }
    broken
}

#[test]
fn calls_over_endpoints_that_fail() {
    let seeds = Seeds::of("calls_over_endpoints_that_fail", 50);
    seeds.run_schedules(Fault::schedule, |_, schedule| virtual_time().block_on(outcome(schedule)));
}

/// A schedule that fails with a 3 and a 7 is shown with these two alone.
#[test]
#[should_panic(expected = "the shortest schedule that fails: [7, 3]\nseen [7, 3]")]
fn a_schedule_that_fails_is_shortened() {
    let fails = |schedule: &[u32]| schedule.contains(&3) && schedule.contains(&7);
    Seeds::of("none", 1).run_schedules(
        |_| vec![1, 7, 2, 2, 3, 5, 3, 8],
        |_, schedule| {
            let mut outcome = SeedOutcome::of(format!("seen {schedule:?}"));
            outcome.broken.extend(fails(schedule).then(|| "a rule".to_owned()));
            outcome
        },
    );
}
