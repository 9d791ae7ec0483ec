//! Time and instructions, as ratios to the raw client in the same run.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use gax_retry::jitter::JitterSource;
use gax_retry::operation::{Action, AttemptResult, Operation, Ready, World};
use gax_retry::{Code, NoJitter, Policy, ThreadJitter};
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};
use tonic_gax_benches::canned::Canned;
use tonic_gax_benches::contender::{
    Backon, Bare, Contender, Generated, Layered, Raw, RawTimeout, TowerRetry, Untimed,
};
use tonic_gax_benches::loopback::Server;
use tonic_gax_benches::measure::{self, Cost, Counted, Lane, Stopwatch, Summary, Turns, by_turns};
use tonic_gax_benches::message;
use tonic_gax_benches::pace::Pace;
use tonic_gax_benches::table::{Table, target};

fn main() -> Result<(), Box<dyn Error>> {
    if Server::is_asked_for() {
        return Server::run();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Some(counted) = Counted::asked() {
        counted_calls(&runtime, counted);
        return Ok(());
    }
    let bench = Bench::from_arguments(runtime);
    bench.case("canned, ready at once", |bench| bench.canned(Canned::new(), "<= 1.12", "<= 0.60"));
    bench.case("canned, pending once", |bench| {
        bench.canned(Canned::new().pending_once(), "<= 1.18", "<= 0.65");
    });
    bench.case("instructions, ready at once", Bench::instructions);
    bench.case("one retry, beside two raw calls", Bench::one_retry);
    bench.case("1 MiB, 3 attempts, beside one raw attempt", Bench::large);
    bench.case("zero-delay retry, time on the wall", Bench::at_once);
    bench.case("schedule", Bench::schedule);
    bench.try_case("loopback", Bench::loopback)
}

struct Bench {
    runtime: Runtime,
    quick: bool,
    only: Vec<String>,
}

impl Bench {
    fn from_arguments(runtime: Runtime) -> Self {
        let (flags, only): (Vec<String>, Vec<String>) =
            std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
        let quick = flags.iter().any(|flag| flag == "--test" || flag == "--quick");
        Self { runtime, quick, only }
    }

    fn case(&self, name: &str, run: impl FnOnce(&Self)) {
        if self.only.is_empty() || self.only.iter().any(|only| name.contains(only.as_str())) {
            println!("\n{name}");
            run(self);
        }
    }

    fn try_case(
        &self,
        name: &str,
        run: impl FnOnce(&Self) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let mut outcome = Ok(());
        self.case(name, |bench| outcome = run(bench));
        outcome
    }

    fn by_turns(&self, lanes: Vec<Lane<'_>>, turns: Turns) -> Vec<Summary> {
        by_turns(lanes, if self.quick { turns.quick() } else { turns })
    }

    fn lane<C: Contender>(&self, contender: C) -> Lane<'_> {
        Lane::calls(&self.runtime, Cost::Processor, contender, message::request(message::SMALL))
    }

    fn canned(&self, service: Canned, layer: &str, generated: &str) {
        let pace = Pace::AT_ONCE;
        let lanes = vec![
            self.lane(Raw::new(service.clone())),
            self.lane(RawTimeout::new(service.clone())),
            self.lane(TowerRetry::new(service.clone(), pace)),
            self.lane(Backon::new(service.clone(), pace)),
            self.lane(Bare::new(service.clone())),
            self.lane(Layered::new(service.clone(), pace)),
            self.lane(Generated::new(service, pace)),
        ];
        print_ratios(
            "processor time x raw",
            &self.by_turns(lanes, Turns { rounds: 200, calls: 2000 }),
            layer,
            generated,
        );
    }

    fn instructions(&self) {
        if self.quick {
            println!("  skipped: takes half a minute");
            return;
        }
        let names: Vec<&str> = counted(&self.runtime).iter().map(Lane::name).collect();
        let counts: Option<Vec<f64>> = (0..names.len()).map(measure::instructions).collect();
        let Some(counts) = counts else {
            println!("  skipped: needs valgrind");
            return;
        };
        let rows: Vec<_> = names.into_iter().zip(counts).collect();
        let (calls, retries) = rows.split_at(rows.len().min(ONE_CALL));
        print_instructions("over raw", calls, "<= +1200");
        println!(" one retry");
        print_instructions("over two raw calls", retries, "< 0");
    }

    fn one_retry(&self) {
        let pace = Pace::AT_ONCE;
        let service = Canned::new().failing(1);
        let lanes = vec![
            self.lane(Raw::new(Canned::new())).times(2).named("two raw calls"),
            self.lane(TowerRetry::new(service.clone(), pace)),
            self.lane(Backon::new(service.clone(), pace)),
            self.lane(Layered::new(service.clone(), pace)),
            self.lane(Generated::new(service, pace)),
        ];
        let summaries = self.by_turns(lanes, Turns { rounds: 200, calls: 1000 });
        print_ratios("processor time x two raw calls", &summaries, "<= 0.87", "<= 0.60");
    }

    fn large(&self) {
        let pace = Pace::AT_ONCE;
        let service = Canned::new().failing(2);
        let request = message::request(message::LARGE);
        let runtime = &self.runtime;
        let lanes = vec![
            Lane::calls(runtime, Cost::Processor, Raw::new(Canned::new()), request.clone())
                .named("one raw attempt"),
            Lane::calls(runtime, Cost::Processor, TowerRetry::new(service.clone(), pace), request.clone()),
            Lane::calls(runtime, Cost::Processor, Backon::new(service.clone(), pace), request.clone()),
            Lane::calls(runtime, Cost::Processor, Layered::new(service.clone(), pace), request.clone()),
            Lane::calls(runtime, Cost::Processor, Generated::new(service, pace), request),
        ];
        let summaries = self.by_turns(lanes, Turns { rounds: 60, calls: 20 });
        print_ratios("processor time x one raw attempt", &summaries, "<= 1.10", "<= 1.03");
    }

    /// A retry at once, with peers as their users have them: they sleep for a delay of zero too.
    fn at_once(&self) {
        let pace = Pace { peers_sleep: true, ..Pace::AT_ONCE };
        let (good, service) = (Canned::new(), Canned::new().failing(1));
        let request = || message::request(message::SMALL);
        let runtime = &self.runtime;
        let lanes = vec![
            Lane::calls(runtime, Cost::Wall, Raw::new(good), request()).times(2).named("two raw calls"),
            Lane::calls(runtime, Cost::Wall, TowerRetry::new(service.clone(), pace), request()),
            Lane::calls(runtime, Cost::Wall, Backon::new(service.clone(), pace), request()),
            Lane::calls(runtime, Cost::Wall, Layered::new(service.clone(), pace), request()),
            Lane::calls(runtime, Cost::Wall, Generated::new(service, pace), request()),
        ];
        let summaries = self.by_turns(lanes, Turns { rounds: 20, calls: 20 });
        let raw = summaries.first().map_or(f64::NAN, |summary| summary.nanos);
        let mut table = Table::new(&["contender", "us a call", "us over two raw calls", "target"]);
        for summary in &summaries {
            let target = target(summary.name, "< 5", "< 5");
            let (total, added) = (summary.nanos / 1e3, (summary.nanos - raw) / 1e3);
            table.row([summary.name.to_owned(), format!("{total:.2}"), format!("{added:+.2}"), target]);
        }
        print!("{}", table.text());
    }

    fn schedule(&self) {
        let settings = Pace::PARKED.settings().to_builder().total_timeout(Duration::from_secs(90_000));
        let Ok(settings) = settings.retry_delay_multiplier(1.3).build() else {
            return;
        };
        let Ok(jittered) = settings.to_builder().jittered(true).build() else {
            return;
        };
        let fixed = Policy::new(&settings, Pace::codes());
        let jittered = Policy::new(&jittered, Pace::codes());
        let fixed = &fixed;
        let lanes = vec![
            Lane::new("decision and next start, no jitter", move |calls| {
                decisions(fixed, calls, &mut NoJitter)
            }),
            Lane::new("decision and next start, jitter", |calls| {
                decisions(&jittered, calls, &mut ThreadJitter)
            }),
        ];
        let summaries = self.by_turns(lanes, Turns { rounds: 100, calls: 10_000 });
        let mut table = Table::new(&["what", "ns", "target"]);
        for (summary, target) in summaries.iter().zip(["<= 40", "<= 40"]) {
            table.row([summary.name.to_owned(), format!("{:.1}", summary.nanos), target.to_owned()]);
        }
        print!("{}", table.text());
    }

    fn loopback(&self) -> Result<(), Box<dyn Error>> {
        let server = Server::spawn()?;
        let endpoint = Endpoint::from_shared(server.uri().to_owned())?.tcp_nodelay(true);
        // Each has a runtime and a connection of its own: timers of one would spare another's system calls.
        let mut runtimes = Vec::new();
        for _ in 0..7 {
            runtimes.push(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
        }
        let channels: Vec<Channel> = (runtimes.iter())
            .map(|runtime| runtime.block_on(endpoint.connect()))
            .collect::<Result<_, _>>()?;
        println!(" 64 in flight");
        let lanes = over(&runtimes, &channels, |runtime, contender| contender.concurrent(runtime));
        let summaries = self.by_turns(lanes, Turns { rounds: 40, calls: 6400 });
        let mut table = Table::new(&["contender", "calls/s", "calls/s x raw", "quartiles", "target"]);
        for Summary { name, nanos, ratio, quartiles: (low, high) } in summaries {
            let target = target(name, ">= 0.96", ">= 1.02");
            let range = format!("{:.2} to {:.2}", 1.0 / high, 1.0 / low);
            let rate = format!("{:.0}", 1e9 / nanos);
            table.row([name.to_owned(), rate, format!("{:.2}", 1.0 / ratio), range, target]);
        }
        print!("{}", table.text());
        println!(" one at a time");
        let lanes = over(&runtimes, &channels, |runtime, contender| contender.sequential(runtime));
        let summaries = self.by_turns(lanes, Turns { rounds: 60, calls: 500 });
        print_ratios("client's processor time x raw", &summaries, "<= 1.05", "<= 0.97");
        Ok(())
    }
}

fn over<'a>(
    runtimes: &'a [Runtime],
    channels: &[Channel],
    lane: impl Fn(&'a Runtime, Box<dyn Boxed>) -> Lane<'a>,
) -> Vec<Lane<'a>> {
    const PACE: Pace = Pace::AT_ONCE;
    let make: [fn(Channel) -> Box<dyn Boxed>; 7] = [
        |channel| Box::new(Raw::new(channel)),
        |channel| Box::new(RawTimeout::new(channel)),
        |channel| Box::new(TowerRetry::new(channel, PACE)),
        |channel| Box::new(Backon::new(channel, PACE)),
        |channel| Box::new(Layered::new(channel, PACE)),
        |channel| Box::new(Generated::new(channel, PACE)),
        |channel| Box::new(Untimed::new(channel, PACE)),
    ];
    let places = runtimes.iter().zip(channels);
    places.zip(make).map(|((runtime, channel), make)| lane(runtime, make(channel.clone()))).collect()
}

/// A contender whose lane is chosen later.
trait Boxed {
    fn concurrent(self: Box<Self>, runtime: &Runtime) -> Lane<'_>;
    fn sequential(self: Box<Self>, runtime: &Runtime) -> Lane<'_>;
}

impl<C: Contender> Boxed for C {
    fn concurrent(self: Box<Self>, runtime: &Runtime) -> Lane<'_> {
        Lane::concurrent(runtime, Cost::Wall, *self, message::request(message::SMALL), 64)
    }

    fn sequential(self: Box<Self>, runtime: &Runtime) -> Lane<'_> {
        Lane::calls(runtime, Cost::Processor, *self, message::request(message::SMALL))
    }
}

/// The clock and the jitter of an operation.
struct FakeWorld<'a> {
    now: Duration,
    jitter: &'a mut dyn JitterSource,
}

impl World for FakeWorld<'_> {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        self.jitter
    }
}

/// Operations whose first attempt has failed, and whose second and third fail too; counted are the two decisions
/// with the starts after them.
fn decisions(policy: &Policy, calls: u32, jitter: &mut dyn JitterSource) -> Duration {
    let mut world = FakeWorld { now: Duration::ZERO, jitter };
    let failed = AttemptResult::failed(Code::Unavailable);
    let mut step = |operation: &mut Operation, attempt: u32, now: u64| {
        world.now = black_box(Duration::from_secs(now));
        operation.ended(policy, attempt, black_box(failed), &mut world);
        if let Action::Wait(Some(until)) = black_box(operation.next(policy, &mut world)) {
            world.now = until;
            black_box(operation.next(policy, &mut world));
        }
    };
    let mut operations = Vec::new();
    for _ in 0..calls.div_ceil(2) {
        let (mut operation, _) = black_box(Operation::begin(policy, None, Ready::Now));
        step(&mut operation, 1, 0);
        operations.push(operation);
    }
    let watch = Stopwatch::start(Cost::Processor);
    for operation in &mut operations {
        step(operation, 2, 100);
        step(operation, 3, 200);
    }
    watch.elapsed()
}

/// How many of the counted lanes make one attempt.
const ONE_CALL: usize = 4;

/// The lanes whose instructions are counted: calls that succeed at once, then calls with one retry.
fn counted(runtime: &Runtime) -> Vec<Lane<'_>> {
    fn lane<C: Contender>(runtime: &Runtime, contender: C) -> Lane<'_> {
        Lane::calls(runtime, Cost::Processor, contender, message::request(message::SMALL))
    }
    let pace = Pace::AT_ONCE;
    let (good, failing) = (Canned::new, || Canned::new().failing(1));
    vec![
        lane(runtime, Raw::new(good())),
        lane(runtime, Bare::new(good())),
        lane(runtime, Layered::new(good(), pace)),
        lane(runtime, Generated::new(good(), pace)),
        lane(runtime, Raw::new(good())).times(2).named("two raw calls"),
        lane(runtime, TowerRetry::new(failing(), pace)),
        lane(runtime, Layered::new(failing(), pace)),
        lane(runtime, Generated::new(failing(), pace)),
    ]
}

/// The calls of one lane, for valgrind.
fn counted_calls(runtime: &Runtime, Counted { lane, calls }: Counted) {
    let only: Vec<Lane<'_>> = counted(runtime).into_iter().skip(lane).take(1).collect();
    let _summary = by_turns(only, Turns { rounds: 0, calls });
}

fn print_instructions(over: &str, rows: &[(&str, f64)], layer: &str) {
    let first = rows.first().map_or(f64::NAN, |(_, count)| *count);
    let mut table = Table::new(&["contender", "instructions", over, "target"]);
    for (name, count) in rows {
        let target = target(name, layer, "< 0");
        table.row([(*name).to_owned(), format!("{count:.0}"), format!("{:+.0}", count - first), target]);
    }
    print!("{}", table.text());
}

fn print_ratios(title: &str, summaries: &[Summary], layer: &str, generated: &str) {
    let mut table = Table::new(&["contender", "ns a call", title, "quartiles", "target"]);
    for Summary { name, nanos, ratio, quartiles: (low, high) } in summaries {
        let range = format!("{low:.2} to {high:.2}");
        let target = target(name, layer, generated);
        table.row([(*name).to_owned(), format!("{nanos:.0}"), format!("{ratio:.2}"), range, target]);
    }
    print!("{}", table.text());
}
