//! The cost of a message of a stream, as ratios to tonic's own client in the same run.
//!
//! `cargo bench -p tonic-gax-benches --bench streams` counts instructions where valgrind is installed, then takes times over a
//! service in this process and over HTTP/2 on the loopback interface.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use tonic_gax_benches::contender::Wire;
use tonic_gax_benches::loopback::Server;
use tonic_gax_benches::measure::{self, Cost, Counted, Lane, Stopwatch, Summary, Turns, by_turns};
use tonic_gax_benches::stream::{
    CannedStream, Generated, Layered, LayeredResuming, Raw, Resuming, Shape, StreamContender,
};
use tonic_gax_benches::table::{Table, target};

fn main() -> Result<(), Box<dyn Error>> {
    if Server::is_asked_for() {
        return Server::run();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Some(Counted { lane, calls }) = Counted::asked() {
        let only: Vec<Lane<'_>> = counted(&runtime).into_iter().skip(lane).take(1).collect();
        let _summary = by_turns(only, Turns { rounds: 0, calls });
        return Ok(());
    }
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--quick");
    let turns = |turns: Turns| if quick { turns.quick() } else { turns };
    if !quick {
        instructions(&runtime);
    }
    for shape in Shape::ALL {
        println!("\ncanned, {}", shape.name());
        let lanes = canned(&runtime, shape);
        print_ratios("processor time x raw", &by_turns(lanes, turns(Turns { rounds: 100, calls: 2000 })));
    }
    let server = Server::spawn()?;
    let endpoint = Endpoint::from_shared(server.uri().to_owned())?.tcp_nodelay(true);
    for shape in Shape::ALL {
        println!("\nloopback, {}", shape.name());
        let channel = runtime.block_on(endpoint.connect())?;
        let summaries = by_turns(over(&runtime, &channel, shape), turns(Turns { rounds: 20, calls: 20_000 }));
        let mut table = Table::new(&["contender", "messages/s", "x raw", "quartiles"]);
        for Summary { name, nanos, ratio, quartiles: (low, high) } in summaries {
            let range = format!("{:.2} to {:.2}", 1.0 / high, 1.0 / low);
            table.row([name.to_owned(), format!("{:.0}", 1e9 / nanos), format!("{:.2}", 1.0 / ratio), range]);
        }
        print!("{}", table.text());
    }
    Ok(())
}

/// One call with so many messages, and what it cost.
fn lane<'a, C: StreamContender + 'a>(
    runtime: &'a Runtime,
    cost: Cost,
    shape: Shape,
    mut contender: C,
) -> Lane<'a> {
    Lane::new(C::NAME, move |messages| {
        timed(runtime, cost, shape.replies(messages), contender.call(shape, messages))
    })
}

/// The cost of a call that brings so many messages back.
fn timed(
    runtime: &Runtime,
    cost: Cost,
    expected: u64,
    call: impl Future<Output = Result<u64, Status>>,
) -> Duration {
    let watch = Stopwatch::start(cost);
    let count = runtime.block_on(call).expect("the service replies");
    let took = watch.elapsed();
    assert_eq!(count, expected, "every message comes back");
    took
}

/// A service that has as many messages as it is asked for.
fn canned(runtime: &Runtime, shape: Shape) -> Vec<Lane<'_>> {
    let of_so_many = move |messages| CannedStream::new(shape, messages);
    let mut lanes = vec![
        fresh(runtime, shape, move |messages| Raw::new(of_so_many(messages))),
        fresh(runtime, shape, move |messages| Layered::new(of_so_many(messages))),
        fresh(runtime, shape, move |messages| Generated::new(of_so_many(messages))),
    ];
    if shape == Shape::Server {
        lanes.push(fresh(runtime, shape, move |messages| LayeredResuming::new(of_so_many(messages))));
        lanes.push(fresh(runtime, shape, move |messages| Resuming::new(of_so_many(messages))));
    }
    lanes
}

/// A client for each turn, made before it is timed.
fn fresh<'a, C: StreamContender>(
    runtime: &'a Runtime,
    shape: Shape,
    make: impl Fn(u32) -> C + 'a,
) -> Lane<'a> {
    Lane::new(C::NAME, move |messages| {
        let mut contender = make(messages);
        timed(runtime, Cost::Processor, shape.replies(messages), contender.call(shape, messages))
    })
}

fn over<'a>(runtime: &'a Runtime, channel: &Channel, shape: Shape) -> Vec<Lane<'a>> {
    fn all<'a, S: Wire>(runtime: &'a Runtime, service: &S, shape: Shape) -> Vec<Lane<'a>> {
        let service = || service.clone();
        let mut lanes = vec![
            lane(runtime, Cost::Wall, shape, Raw::new(service())),
            lane(runtime, Cost::Wall, shape, Layered::new(service())),
            lane(runtime, Cost::Wall, shape, Generated::new(service())),
        ];
        if shape == Shape::Server {
            lanes.push(lane(runtime, Cost::Wall, shape, LayeredResuming::new(service())));
            lanes.push(lane(runtime, Cost::Wall, shape, Resuming::new(service())));
        }
        lanes
    }
    // A deadline of half a minute: a turn takes a fraction of a second.
    all(runtime, channel, shape)
}

/// The lanes whose instructions are counted.
fn counted(runtime: &Runtime) -> Vec<Lane<'_>> {
    Shape::ALL.into_iter().flat_map(|shape| canned(runtime, shape)).collect()
}

fn instructions(runtime: &Runtime) {
    let lanes: Vec<(Shape, &str)> = Shape::ALL
        .into_iter()
        .flat_map(|shape| canned(runtime, shape).into_iter().map(move |lane| (shape, lane.name())))
        .collect();
    println!("instructions a message");
    let mut table = Table::new(&["contender", "shape", "instructions", "x raw", "target"]);
    let mut raw = f64::NAN;
    for (place, (shape, name)) in lanes.into_iter().enumerate() {
        let Some(count) = measure::instructions(place) else {
            println!("  skipped: needs valgrind");
            return;
        };
        if name == <Raw<CannedStream> as StreamContender>::NAME {
            raw = count;
        }
        let cells = [name.to_owned(), shape.name().to_owned(), format!("{count:.0}")];
        let target = target(name, "<= 1.03", "<= 1.00");
        table.row(cells.into_iter().chain([format!("{:.3}", count / raw), target]));
    }
    print!("{}", table.text());
}

fn print_ratios(title: &str, summaries: &[Summary]) {
    let mut table = Table::new(&["contender", "ns a message", title, "quartiles"]);
    for Summary { name, nanos, ratio, quartiles: (low, high) } in summaries {
        let range = format!("{low:.2} to {high:.2}");
        table.row([(*name).to_owned(), format!("{nanos:.0}"), format!("{ratio:.2}"), range]);
    }
    print!("{}", table.text());
}
