//! Time and instructions, as ratios to the raw client in the same run.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::error::Error;
use std::process::Command;
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::canned::Canned;
use tonic_gax_benches::contender::{
    Bare, Contender, Generated, Layered, RETRYING, Raw, RawTimeout, Visitor, each_retrying,
};
use tonic_gax_benches::loopback::Server;
use tonic_gax_benches::measure::{
    self, Cost, Counted, Counts, Lane, Summary, Turns, Way, by_turns, paused, runtime,
};
use tonic_gax_benches::message;
use tonic_gax_benches::pace::Pace;
use tonic_gax_benches::pipe;
use tonic_gax_benches::table::{beside_first, rates, ratios};

fn main() -> Result<(), Box<dyn Error>> {
    if Server::is_asked_for() {
        return Server::run();
    }
    let runtime = runtime();
    if let Some(counted) = Counted::asked() {
        counted_calls(&runtime, counted);
        return Ok(());
    }
    let bench = &Bench { runtime, arguments: Arguments::read() };
    let arguments = &bench.arguments;
    arguments.case("canned, ready at once", || bench.canned(&Canned::new(), "<= 1.22", "<= 0.54"));
    arguments.case("canned, pending once", || {
        bench.canned(&Canned::new().pending_once(), "<= 1.27", "<= 0.60");
    });
    arguments.case("instructions, ready at once", || bench.instructions());
    arguments.case("zero-delay retry, time on the wall", || bench.at_once());
    arguments.case("loopback", || Some(bench.loopback())).transpose()?;
    // Last, because they pause the clock.
    arguments.case("one retry, beside two raw calls", || bench.one_retry());
    arguments.case(LARGE, || Some(bench.large())).transpose()?;
    Ok(())
}

/// The case that has a process of its own.
const LARGE: &str = "1 MiB, 3 attempts, beside one raw attempt";

struct Bench {
    runtime: Runtime,
    arguments: Arguments,
}

impl Bench {
    fn canned(&self, service: &Canned, layer: &str, generated: &str) {
        let mut lanes = Lanes::new(&self.runtime, Way::ByHand, message::SMALL);
        lanes.visit(Raw::new(service.clone()));
        lanes.visit(RawTimeout::new(service.clone()));
        lanes.visit(Bare::new(service.clone()));
        each_retrying(|| service.clone(), Pace::AT_ONCE, &mut lanes);
        let turns = Turns { rounds: 200, calls: 2000 };
        print_ratios("processor time x raw", &self.arguments.by_turns(lanes.all, turns), (layer, generated));
        service.assert_sent(message::SMALL);
    }

    fn instructions(&self) {
        if self.arguments.is_quick() {
            println!("  skipped: takes half a minute");
            return;
        }
        let canned = counted(&self.runtime);
        let names: Vec<&str> = canned.iter().map(Lane::name).chain(CONNECTED).collect();
        let counts: Option<Vec<Counts>> = (0..names.len()).map(measure::instructions).collect();
        let Some(counts) = counts else {
            println!("  skipped: needs valgrind");
            return;
        };
        let rows: Vec<_> = names.into_iter().zip(counts).collect();
        let (calls, rest) = rows.split_at(rows.len().min(ONE_CALL));
        let (retries, connected) = rest.split_at(rest.len().saturating_sub(CONNECTED.len()));
        print_instructions("over raw", calls, ("<= +1900", "<= -6700"));
        println!(" one retry");
        print_instructions("over two raw calls", retries, ("<= -1800", "<= -9800"));
        println!(" over HTTP/2 to a server in this process, which counts, too");
        print_instructions("over Channel", connected, ("", ""));
    }

    /// On a paused clock: a library that sleeps for a delay of zero waits for a millisecond of the real one.
    fn one_retry(&self) {
        let runtime = paused();
        let service = Canned::new().failing(1);
        let mut lanes = Lanes::new(&runtime, PROCESSOR, message::SMALL);
        lanes.add("two raw calls", 2, Raw::new(service.clone()));
        each_retrying(|| service.clone(), Pace::AT_ONCE, &mut lanes);
        let summaries = self.arguments.by_turns(lanes.all, Turns { rounds: 200, calls: 1000 });
        print_ratios("processor time x two raw calls", &summaries, ("<= 1.00", "<= 0.62"));
        service.assert_sent(message::SMALL);
    }

    /// In a process whose allocator keeps freed megabytes: otherwise the kernel maps each of them anew, which would be a good part
    /// of the figure.
    fn large(&self) -> Result<(), Box<dyn Error>> {
        const KEEPS: [(&str, &str); 3] = [
            ("MALLOC_MMAP_THRESHOLD_", "1073741824"),
            ("MALLOC_TRIM_THRESHOLD_", "1073741824"),
            ("MALLOC_TOP_PAD_", "67108864"),
        ];
        if KEEPS.iter().any(|(name, _)| std::env::var_os(name).is_none()) {
            let quick = self.arguments.is_quick().then_some("--quick");
            let printed =
                Command::new(std::env::current_exe()?).args(quick).arg(LARGE).envs(KEEPS).output()?;
            let table = String::from_utf8(printed.stdout)?;
            print!("{}", table.trim_start().trim_start_matches(LARGE).trim_start_matches('\n'));
            return if printed.status.success() { Ok(()) } else { Err("its process failed".into()) };
        }
        let runtime = paused();
        let service = Canned::new().failing(2);
        let mut lanes = Lanes::new(&runtime, PROCESSOR, message::LARGE);
        lanes.add("one raw attempt", 1, Raw::new(Canned::new()));
        each_retrying(|| service.clone(), Pace::AT_ONCE, &mut lanes);
        let summaries = self.arguments.by_turns(lanes.all, Turns { rounds: 200, calls: 4 });
        print_ratios("processor time x one raw attempt", &summaries, ("<= 1.15", "<= 1.01"));
        service.assert_sent(message::LARGE);
        Ok(())
    }

    fn at_once(&self) {
        let service = Canned::new().failing(1);
        let mut lanes = Lanes::new(&self.runtime, Way::Polled(Cost::Wall), message::SMALL);
        lanes.add("two raw calls", 2, Raw::new(service.clone()));
        each_retrying(|| service.clone(), Pace::AT_ONCE, &mut lanes);
        let summaries = self.arguments.by_turns(lanes.all, Turns { rounds: 20, calls: 20 });
        let headings = ["contender", "us a call", "us over two raw calls"];
        let table = beside_first(&headings, &summaries, Some(("< 5", "< 5")), |summary, raw| {
            [format!("{:.2}", summary.nanos / 1e3), format!("{:+.2}", (summary.nanos - raw.nanos) / 1e3)]
        });
        print!("{table}");
    }

    fn loopback(&self) -> Result<(), Box<dyn Error>> {
        let server = Server::spawn()?;
        let endpoint = Endpoint::from_shared(server.uri().to_owned())?.tcp_nodelay(true);
        // Each has a runtime and a connection of its own: timers of one would spare another's system calls.
        let mut connected = Vec::new();
        for _ in 0..RETRYING + 2 {
            let runtime = runtime();
            let channel = runtime.block_on(endpoint.connect())?;
            connected.push((runtime, channel));
        }
        println!(" 64 in flight");
        let lanes = over(&connected, Way::Tasks(64));
        let summaries = self.arguments.by_turns(lanes, Turns { rounds: 40, calls: 6400 });
        let headings = ["contender", "calls/s", "calls/s x raw"];
        print!("{}", rates(headings, &summaries, Some((">= 0.95", ">= 1.02"))));
        println!(" one at a time");
        let lanes = over(&connected, PROCESSOR);
        let summaries = self.arguments.by_turns(lanes, Turns { rounds: 60, calls: 500 });
        print_ratios("client's processor time x raw", &summaries, ("<= 1.05", "<= 0.98"));
        Ok(())
    }
}

/// The lanes over channels, each with the runtime of its own.
fn over(connected: &[(Runtime, Channel)], way: Way) -> Vec<Lane<'_>> {
    let mut channels = connected.iter().map(|(_, channel)| channel.clone());
    let mut channel = || channels.next().expect("there is one for each contender");
    let runtimes = Box::new(connected.iter().map(|(runtime, _)| runtime));
    let mut lanes = Lanes { runtimes, way, size: message::SMALL, all: Vec::new() };
    lanes.visit(Raw::new(channel()));
    lanes.visit(RawTimeout::new(channel()));
    each_retrying(&mut channel, Pace::AT_ONCE, &mut lanes);
    lanes.all
}

/// One call after the other, in processor time.
const PROCESSOR: Way = Way::Polled(Cost::Processor);

/// The lanes of contenders that make the same calls.
struct Lanes<'a> {
    /// The runtime of each.
    runtimes: Box<dyn Iterator<Item = &'a Runtime> + 'a>,
    way: Way,
    size: usize,
    all: Vec<Lane<'a>>,
}

impl<'a> Lanes<'a> {
    fn new(runtime: &'a Runtime, way: Way, size: usize) -> Self {
        Self { runtimes: Box::new(std::iter::repeat(runtime)), way, size, all: Vec::new() }
    }

    fn lane<C: Contender>(&mut self, contender: C, each: u32) -> Lane<'a> {
        let runtime = self.runtimes.next().expect("there is one for each contender");
        Lane::calls(runtime, self.way, contender, message::payload(self.size), each)
    }

    /// Adds a lane by another name, of one that makes a single attempt a call: the last of `each` succeeds.
    fn add<C: Contender>(&mut self, name: &'static str, each: u32, contender: C) {
        let lane = self.lane(contender, each).named(name);
        self.all.push(lane);
    }
}

impl Visitor for Lanes<'_> {
    fn visit<C: Contender>(&mut self, contender: C) {
        let lane = self.lane(contender, 1);
        self.all.push(lane);
    }
}

/// How many of the counted lanes make one attempt.
const ONE_CALL: usize = 2 + RETRYING;

/// The lanes over a connection, whose instructions are counted after those of the canned service.
const CONNECTED: [&str; 6] = [
    "Channel",
    "Connection",
    "Channel, layer",
    "Connection, layer",
    "Channel, generated client",
    "Connection, generated client",
];

/// The lanes over the canned service whose instructions are counted: calls that succeed at once, and calls with one retry.
fn counted(runtime: &Runtime) -> Vec<Lane<'_>> {
    let mut lanes = Lanes::new(runtime, PROCESSOR, message::SMALL);
    lanes.visit(Raw::new(Canned::new()));
    lanes.visit(Bare::new(Canned::new()));
    each_retrying(Canned::new, Pace::AT_ONCE, &mut lanes);
    lanes.add("two raw calls", 2, Raw::new(Canned::new().failing(1)));
    each_retrying(|| Canned::new().failing(1), Pace::AT_ONCE, &mut lanes);
    lanes.all
}

/// The lanes over a connection. They have a process of their own: once there is a `Connection`, all attempts of the process are
/// linked to theirs, if they have one.
fn connected(runtime: &Runtime) -> Vec<Lane<'_>> {
    let mut lanes = Lanes::new(runtime, PROCESSOR, message::SMALL);
    let _entered = runtime.enter();
    lanes.visit(Raw::new(pipe::channel()));
    lanes.visit(Raw::new(pipe::connection()));
    lanes.visit(Layered::new(pipe::channel(), Pace::AT_ONCE));
    lanes.visit(Layered::new(pipe::connection(), Pace::AT_ONCE));
    lanes.visit(Generated::new(pipe::channel(), Pace::AT_ONCE));
    lanes.visit(Generated::new(pipe::connection(), Pace::AT_ONCE));
    lanes.all
}

/// The calls of one lane, for valgrind.
fn counted_calls(runtime: &Runtime, Counted { lane, calls }: Counted) {
    // A retry without delay asks the kernel for nothing either when it is counted.
    let paused = (ONE_CALL..ONE_CALL + 1 + RETRYING).contains(&lane).then(paused);
    let runtime = paused.as_ref().unwrap_or(runtime);
    let canned = counted(runtime);
    let of_connections = lane.checked_sub(canned.len());
    let (lanes, lane) = of_connections.map_or((canned, lane), |lane| (connected(runtime), lane));
    let only: Vec<Lane<'_>> = lanes.into_iter().skip(lane).take(1).collect();
    let _summary = by_turns(only, Turns { rounds: 0, calls });
}

fn print_instructions(over: &str, rows: &[(&str, Counts)], targets: (&str, &str)) {
    let headings = ["contender", "instructions", over, "lines of code", "more lines"];
    let table = beside_first(&headings, rows, Some(targets), |counts, first| {
        let more = (counts.instructions - first.instructions, counts.fetched - first.fetched);
        [
            format!("{:.0}", counts.instructions),
            format!("{:+.0}", more.0),
            format!("{:.0}", counts.fetched),
            format!("{:+.0}", more.1),
        ]
    });
    print!("{table}");
}

fn print_ratios(title: &str, rows: &[(&str, Summary)], targets: (&str, &str)) {
    print!("{}", ratios(["contender", "ns a call", title], rows, Some(targets)));
}
