//! Allocations and bytes, which are the same in every run, and what a parked operation holds.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use allocation_counter::{AllocationInfo, measure};
use gax_retry::jitter::JitterSource;
use gax_retry::operation::{Action, AttemptResult, Operation, Ready, World};
use gax_retry::{Code, Policy, ThreadJitter};
use std::hint::black_box;
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic_gax_benches::bench::Payload;
use tonic_gax_benches::canned::Canned;
use tonic_gax_benches::contender::{Bare, Contender, Raw, RawTimeout, Visitor, each_retrying};
use tonic_gax_benches::measure::{Cost, Stopwatch};
use tonic_gax_benches::message;
use tonic_gax_benches::pace::Pace;
use tonic_gax_benches::table::{Table, target};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--test" || argument == "--quick");
    let bench =
        Bench { quick, only: arguments.into_iter().filter(|argument| !argument.starts_with('-')).collect() };
    bench.case("canned, ready at once", |bench| bench.canned(&Canned::new()));
    bench.case("canned, pending once", |bench| bench.canned(&Canned::new().pending_once()));
    bench.case("one retry, beside two raw calls", |_| one_retry());
    bench.case("1 MiB, 3 attempts: bytes beside one raw attempt", |_| large());
    bench.case("schedule: a whole decision", |_| decision());
    bench.case("parked in back-off", Bench::parked);
}

struct Bench {
    quick: bool,
    only: Vec<String>,
}

/// A name, and what a call allocates.
type Row = (&'static str, PerCall);

impl Bench {
    fn case(&self, name: &str, run: impl FnOnce(&Self)) {
        if self.only.is_empty() || self.only.iter().any(|only| name.contains(only.as_str())) {
            println!("\n{name}");
            run(self);
        }
    }

    #[expect(clippy::unused_self, reason = "every case has the bench")]
    fn canned(&self, service: &Canned) {
        let mut rows = Rows::new(message::SMALL);
        rows.visit(Raw::new(service.clone()));
        rows.visit(RawTimeout::new(service.clone()));
        rows.visit(Bare::new(service.clone()));
        each_retrying(|| service.clone(), Pace::AT_ONCE, &mut rows);
        print_over(&rows.rows, "raw", "<= +1, <= +160", "<= -9, <= -17000");
    }

    /// Operations that have failed once and wait, each of them a task.
    fn parked(&self) {
        let count = if self.quick { 100 } else { 100_000 };
        let service = Canned::new().failing(u32::MAX);
        let mut parking = Parking {
            count,
            table: Table::new(&["contender", "live bytes each", "processor us each", "target"]),
        };
        parking.row("a bare sleep", parked_sleep(count));
        each_retrying(|| service.clone(), Pace::PARKED, &mut parking);
        print!("{}", parking.table.text());
    }
}

/// The table of parked operations.
struct Parking {
    count: u32,
    table: Table,
}

impl Parking {
    fn row(&mut self, name: &str, parked: Parked) {
        let target = target(name, "<= 2450, <= 5.0", "<= 1280, <= 3.6");
        let time = format!("{:.2}", parked.micros);
        self.table.row([name.to_owned(), format!("{:.0}", parked.bytes), time, target]);
    }
}

impl Visitor for Parking {
    fn visit<C: Contender>(&mut self, contender: C) {
        let parked = parked(&contender, self.count);
        self.row(C::NAME, parked);
    }
}

fn one_retry() {
    let mut rows = Rows::new(message::SMALL);
    let (_, raw) = row(Raw::new(Canned::new().failing(1)), &rows.message, 2);
    rows.rows.push(("two raw calls", raw));
    each_retrying(|| Canned::new().failing(1), Pace::AT_ONCE, &mut rows);
    print_over(&rows.rows, "two raw calls", "<= -1", "<= -12");
}

fn large() {
    let mut rows = Rows::new(message::LARGE);
    rows.visit(Raw::new(Canned::new()));
    each_retrying(|| Canned::new().failing(2), Pace::AT_ONCE, &mut rows);
    let rows = rows.rows;
    let raw = rows.first().map_or(0, |(_, cost)| cost.bytes);
    let mut table = Table::new(&["contender", "allocations", "bytes", "over one raw attempt", "target"]);
    for (name, PerCall { count, bytes }) in rows {
        let target = target(name, "<= 4096", "<= 3072");
        let cells = [name.to_owned(), count.to_string(), bytes.to_string(), format!("{:+}", bytes - raw)];
        table.row(cells.into_iter().chain([target]));
    }
    print!("{}", table.text());
}

fn decision() {
    let settings = Pace::PARKED.settings().to_builder().total_timeout(Duration::from_secs(90_000));
    let Ok(settings) = settings.jittered(true).build() else {
        return;
    };
    let policy = Policy::new(&settings, Pace::codes());
    let failed = AttemptResult::failed(Code::Unavailable);
    let mut world = FakeWorld { now: Duration::ZERO, jitter: ThreadJitter };
    let (mut operation, _) = black_box(Operation::begin(&policy, None, Ready::Now));
    // The state of an operation beyond its first attempt is made here, once.
    operation.ended(&policy, 1, failed, &mut world);
    let info = measure(|| {
        for attempt in 2..5 {
            while let Action::Wait(Some(until)) = black_box(operation.next(&policy, &mut world)) {
                world.now = until;
            }
            operation.ended(&policy, attempt, failed, &mut world);
        }
    });
    println!("  {} allocations, target 0", info.count_total);
}

/// The clock and the jitter of an operation.
struct FakeWorld {
    now: Duration,
    jitter: ThreadJitter,
}

impl World for FakeWorld {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn jitter(&mut self) -> &mut dyn JitterSource {
        &mut self.jitter
    }
}

/// The allocations of one call.
#[derive(Debug, Clone, Copy)]
struct PerCall {
    count: i64,
    bytes: i64,
}

/// The rows of contenders that make the same calls.
struct Rows {
    message: Payload,
    rows: Vec<Row>,
}

impl Rows {
    fn new(size: usize) -> Self {
        Self { message: message::payload(size), rows: Vec::new() }
    }
}

impl Visitor for Rows {
    fn visit<C: Contender>(&mut self, contender: C) {
        self.rows.push(row(contender, &self.message, 1));
    }
}

/// The row of a contender, of whose attempts the last of `each` succeeds.
fn row<C: Contender>(mut contender: C, message: &Payload, each: i64) -> Row {
    const CALLS: i64 = 8;
    let runtime = runtime();
    let mut calls = |calls: i64| {
        let messages = vec![message.clone(); usize::try_from(calls * each).unwrap_or_default()];
        measure(|| {
            runtime.block_on(async {
                for (number, message) in (1..).zip(messages) {
                    assert_eq!(contender.call(message).await.is_ok(), number % each == 0);
                }
            });
        })
    };
    // Once for what is made once; then what surrounds the calls falls out as a difference.
    calls(1);
    let (few, many) = (calls(CALLS), calls(2 * CALLS));
    let each = |count: fn(&AllocationInfo) -> u64| {
        (i64::try_from(count(&many)).unwrap_or_default() - i64::try_from(count(&few)).unwrap_or_default())
            / CALLS
    };
    (C::NAME, PerCall { count: each(|info| info.count_total), bytes: each(|info| info.bytes_total) })
}

fn print_over(rows: &[Row], base: &str, layer: &str, generated: &str) {
    let first = rows.first().map_or(PerCall { count: 0, bytes: 0 }, |(_, cost)| *cost);
    let over = ["allocations", "bytes"].map(|what| format!("{what} over {base}"));
    let mut table = Table::new(&["contender", "allocations", "bytes", &over[0], &over[1], "target"]);
    for (name, PerCall { count, bytes }) in rows {
        let target = target(name, layer, generated);
        let over = [format!("{:+}", count - first.count), format!("{:+}", bytes - first.bytes)];
        let cells = [(*name).to_owned(), count.to_string(), bytes.to_string()];
        table.row(cells.into_iter().chain(over).chain([target]));
    }
    print!("{}", table.text());
}

/// The memory of an operation that waits.
#[derive(Debug, Clone, Copy)]
struct Parked {
    bytes: f64,
    micros: f64,
}

fn parked<C: Contender>(contender: &C, count: u32) -> Parked {
    let message = message::payload(message::SMALL);
    // The call itself is the task: an `async` block around it would hold it twice, as what it captured and as
    // what it awaits.
    spawned(count, || tokio::spawn(contender.start(message.clone())))
}

fn parked_sleep(count: u32) -> Parked {
    spawned(count, || tokio::spawn(tokio::time::sleep(Pace::PARKED.delay)))
}

fn spawned<T>(count: u32, mut spawn: impl FnMut() -> tokio::task::JoinHandle<T>) -> Parked {
    let runtime = runtime();
    let watch = Stopwatch::start(Cost::Processor);
    let info = measure(|| {
        runtime.block_on(async {
            for _ in 0..count {
                drop(spawn());
            }
            // Every task has run by now: the runtime is fair, and has one thread.
            for _ in 0..count {
                tokio::task::yield_now().await;
            }
        });
    });
    let micros = watch.elapsed().as_secs_f64() * 1e6;
    let bytes = f64::from(i32::try_from(info.bytes_current).unwrap_or(i32::MAX));
    Parked { bytes: bytes / f64::from(count), micros: micros / f64::from(count) }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}
