//! Calls over a `Connection`, beside tonic's channel in the same run: time, and instructions where valgrind is installed. First a crowd
//! of calls that wait while all endpoints are down: what it costs others.
//!
//! `cargo bench -p tonic-gax-benches --bench connection -- crowd` runs the crowd alone.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use gax_connection::{Address, AddressList, Connection, Picker};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint};
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::bench::echo_client::EchoClient;
use tonic_gax_benches::contender::Raw;
use tonic_gax_benches::loopback::Server;
use tonic_gax_benches::measure::{self, Cost, Counted, Lane, Stopwatch, Turns, by_turns, runtime};
use tonic_gax_benches::message;
use tonic_gax_benches::table::{Table, ratios};

/// How many of each are measured.
const ENDPOINTS: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    if Server::is_asked_for() {
        return Server::run();
    }
    let arguments = Arguments::read();
    if Counted::asked().is_none() {
        crowd(Duration::from_secs(if arguments.is_quick() { 1 } else { 10 }))?;
    }
    if std::env::args().any(|flag| flag == "crowd") {
        return Ok(());
    }
    let servers: Vec<_> = (0..ENDPOINTS).map(|_| Server::spawn()).collect::<Result<_, _>>()?;
    let uris: Vec<&str> = servers.iter().map(Server::uri).collect();
    let [one, own, several, own_several] = &std::array::from_fn(|_| runtime());
    let endpoints: Vec<_> = uris
        .iter()
        .map(|uri| Endpoint::from_shared((*uri).to_owned()).map(|endpoint| endpoint.tcp_nodelay(true)))
        .collect::<Result<_, _>>()?;
    let first = endpoints.first().ok_or("there is a server")?;
    let channel = one.block_on(first.connect())?;
    let balanced = several.block_on(async { Channel::balance_list(endpoints.iter().cloned()) });
    let connection = own.block_on(Connection::to(uris.first().copied().unwrap_or_default()).connect())?;
    let addresses: Vec<Address> = uris
        .iter()
        .map(|uri| Ok(Address::Tcp(uri.trim_start_matches("http://").parse()?)))
        .collect::<Result<_, std::net::AddrParseError>>()?;
    let spread = Connection::to("http://echo").picker(Picker::RoundRobin);
    let spread = own_several.block_on(spread.resolver(AddressList::new(addresses)).connect())?;

    let lanes = |concurrency| {
        let over_channel = |runtime, channel: &Channel| lane(runtime, Raw::new(channel.clone()), concurrency);
        let over_own = |runtime, own: &Connection| lane(runtime, Raw::new(own.clone()), concurrency);
        vec![
            over_channel(one, &channel).named("Channel"),
            over_own(own, &connection).named("Connection"),
            over_channel(several, &balanced).named("Channel, 4 endpoints"),
            over_own(own_several, &spread).named("Connection, 4 endpoints"),
        ]
    };
    if let Some(Counted { lane, calls }) = Counted::asked() {
        let all = lanes(1).into_iter().chain(lanes(AT_ONCE));
        let only = all.skip(lane).take(1).collect();
        let _summary = by_turns(only, Turns { rounds: 0, calls });
        return Ok(());
    }
    for (number, (title, concurrency)) in
        [("one at a time", 1), ("64 in flight", AT_ONCE)].into_iter().enumerate()
    {
        let turns = Turns { rounds: 40, calls: if concurrency == 1 { 500 } else { 6400 } };
        println!("\n{title}, processor time of the client");
        let summaries = arguments.by_turns(lanes(concurrency), turns);
        print!("{}", ratios(["over", "ns a call", "x Channel"], &summaries, None));
        if !arguments.is_quick() {
            println!("\n{title}, instructions of the client");
            instructions(&lanes(concurrency), number);
        }
    }
    Ok(())
}

/// How many endpoints are down, and how many calls wait for them.
const CROWD: (u32, u32) = (1000, 1000);

/// Calls that wait until their deadlines, since all endpoints are down: how late timers of other tasks are, how much of a core the calls
/// and attempts to connect take, and when the last call is over.
fn crowd(deadline: Duration) -> Result<(), Box<dyn Error>> {
    const TICK: Duration = Duration::from_millis(10);
    let runtime = runtime();
    let (endpoints, calls) = CROWD;
    // Nobody listens there.
    let down = (0..endpoints)
        .map(|number| Address::from(SocketAddr::from((Ipv4Addr::from(0x7f01_0001 + number), 9))));
    let connection = Connection::to("http://echo").picker(Picker::RoundRobin).wait_for_ready(true);
    let connection = connection.resolver(AddressList::new(down)).connect_lazy()?;
    let (work, wall) = (Stopwatch::start(Cost::Processor), Stopwatch::start(Cost::Wall));
    let late = runtime.block_on(async {
        let mut waiting = JoinSet::new();
        for _ in 0..calls {
            let mut client = EchoClient::new(connection.clone());
            waiting.spawn(async move {
                let call = client.send(message::payload(message::SMALL));
                tokio::time::timeout(deadline, call).await.is_err()
            });
        }
        let mut late = Duration::ZERO;
        while !waiting.is_empty() {
            let tick = Stopwatch::start(Cost::Wall);
            tokio::time::sleep(TICK).await;
            late = late.max(tick.elapsed().saturating_sub(TICK));
            while waiting.try_join_next().is_some() {}
        }
        late
    });
    let over = wall.elapsed().as_secs_f64();
    let mut table =
        Table::new(&["endpoints down", "calls", "timers late", "of a core", "over after, of the deadline"]);
    table.row([
        endpoints.to_string(),
        calls.to_string(),
        format!("{:.1} ms", late.as_secs_f64() * 1e3),
        format!("{:.2}", work.elapsed().as_secs_f64() / over),
        format!("{:.2}", over / deadline.as_secs_f64()),
    ]);
    println!("\ncalls that wait\n{}", table.text());
    Ok(())
}

/// How many calls are in flight where there are several.
const AT_ONCE: u32 = 64;

/// Counts the instructions of one call in each of the lanes, of which there are as many before.
fn instructions(lanes: &[Lane<'_>], before: usize) {
    let mut table = Table::new(&["over", "instructions a call", "x Channel"]);
    let mut first = None;
    for (place, lane) in lanes.iter().enumerate() {
        let Some(count) = measure::instructions(before * lanes.len() + place) else {
            println!("  skipped: needs valgrind");
            return;
        };
        let first = *first.get_or_insert(count);
        table.row([lane.name().to_owned(), format!("{count:.0}"), format!("{:.2}", count / first)]);
    }
    print!("{}", table.text());
}

fn lane<C: tonic_gax_benches::contender::Contender>(
    runtime: &Runtime,
    contender: C,
    concurrency: u32,
) -> Lane<'_> {
    let message = message::payload(message::SMALL);
    if concurrency == 1 {
        return Lane::calls(runtime, Cost::Processor, contender, message);
    }
    Lane::concurrent(runtime, Cost::Processor, contender, message, concurrency)
}
