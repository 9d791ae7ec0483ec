//! The cost of a message of a stream, as ratios to tonic's own client in the same run.
//!
//! `cargo bench -p tonic-gax-benches --bench streams` counts instructions where valgrind is installed, then takes times, both over a
//! service in this process.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use tokio::runtime::Runtime;
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::measure::{self, Cost, Counted, Counts, Lane, Stopwatch, Turns, by_turns, runtime};
use tonic_gax_benches::stream::{self, CannedStream, Shape, StreamContender};
use tonic_gax_benches::table::{Table, ratios, target};

fn main() {
    let runtime = runtime();
    if let Some(Counted { lane, calls }) = Counted::asked() {
        let only: Vec<Lane<'_>> = counted(&runtime).into_iter().skip(lane).take(1).collect();
        let _summary = by_turns(only, Turns { rounds: 0, calls });
        return;
    }
    let arguments = Arguments::read();
    if !arguments.is_quick() {
        instructions(&runtime);
    }
    for shape in Shape::ALL {
        println!("\ncanned, {}", shape.name());
        let summaries = arguments.by_turns(canned(&runtime, shape), Turns { rounds: 100, calls: 20_000 });
        print!("{}", ratios(["contender", "ns a message", "processor time x raw"], &summaries, None));
    }
}

/// One call with so many messages in each turn, by a client that is made before it is timed.
fn lane<'a, C: StreamContender>(
    runtime: &'a Runtime,
    shape: Shape,
    contender: impl Fn(CannedStream) -> C + 'a,
) -> Lane<'a> {
    let make = move |messages| contender(CannedStream::new(shape, messages));
    Lane::new(make(0).name(), move |messages| {
        let mut contender = make(messages);
        let watch = Stopwatch::start(Cost::Processor);
        let count = runtime.block_on(contender.call(shape, messages)).expect("the service replies");
        let took = watch.elapsed();
        assert_eq!(count, shape.replies(messages), "every message comes back");
        took
    })
}

/// Everybody, over a service that has as many messages as it is asked for.
fn canned(runtime: &Runtime, shape: Shape) -> Vec<Lane<'_>> {
    let mut lanes = vec![
        lane(runtime, shape, stream::raw),
        lane(runtime, shape, stream::layered),
        lane(runtime, shape, stream::generated),
    ];
    if shape == Shape::Server {
        lanes.push(lane(runtime, shape, stream::layered_resuming));
        lanes.push(lane(runtime, shape, stream::resuming));
    }
    lanes
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
        let Some(Counts { instructions: count, .. }) = measure::instructions(place) else {
            println!("  skipped: needs valgrind");
            return;
        };
        if name == stream::RAW {
            raw = count;
        }
        let cells = [name.to_owned(), shape.name().to_owned(), format!("{count:.0}")];
        let target = target(name, ("<= 1.03", "<= 1.00"));
        table.row(cells.into_iter().chain([format!("{:.3}", count / raw), target]));
    }
    print!("{}", table.text());
}
