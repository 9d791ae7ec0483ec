//! Very many operations, methods and calls: a million that wait at once, a table of 10,000 methods, settings that are replaced
//! 1,000 times a second, ten million calls in flat memory, and two threads beside one.
//!
//! `cargo bench -p tonic-gax-benches --bench scale --features observing` prints the tables; a part of a case's name behind `--`
//! runs that case only. The million takes 3 GB.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

mod parking;

use allocation_counter::measure;
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::Status;
use tonic_gax::{Hedging, OperationOptions, RetryBudget, RetryLayer, RetryService};
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::canned::Canned;
use tonic_gax_benches::contender::{Backon, Contender, Generated, Layered, Raw};
use tonic_gax_benches::measure::{Cost, Lane, Stopwatch, Turns, Way, paused, runtime};
use tonic_gax_benches::message;
use tonic_gax_benches::pace::Pace;
use tonic_gax_benches::table::{beside_first, ratios};

fn main() {
    let arguments = &Arguments::read();
    arguments.case("operations in back-off at once", || all_parked(arguments.count(1_000_000)));
    arguments.case("a table of many methods", || methods(arguments));
    arguments.case("settings replaced under load", || replaced(arguments));
    arguments.case("calls in flat memory", || flat(arguments.count(10_000_000)));
    arguments.case("two threads beside one", || threads(arguments.count(200_000)));
}

/// Operations that have failed once and wait, all of them until the same moment.
fn all_parked(count: u32) {
    let service = || Canned::new().failing_first(count);
    let sleep = || async { tokio::time::sleep(Pace::PARKED.delay).await };
    let rows = [
        ("a bare sleep", parked(count, sleep)),
        parked_calls(&Backon::new(service(), Pace::PARKED), count),
        parked_calls(&Layered::new(service(), Pace::PARKED), count),
        parked_calls(&Generated::new(service(), Pace::PARKED), count),
    ];
    let headings = ["contender", "operations", "bytes each", "park us each", "drain us each"];
    let table = beside_first(&headings, &rows, None, |[bytes, park, drain], _| {
        [count.to_string(), format!("{bytes:.0}"), format!("{park:.2}"), format!("{drain:.2}")]
    });
    print!("{table}");
}

/// Calls by turns through the layer with a table of one method, and with one of very many.
fn methods(arguments: &Arguments) {
    let count = arguments.count(10_000);
    let runtime = runtime();
    let watch = Stopwatch::start(Cost::Processor);
    let mut many = None;
    let info = measure(|| many = Some(RetryLayer::new(table(count)).layer(Canned::new())));
    let made = watch.elapsed();
    let Some(many) = many else { return };
    let one = RetryLayer::new(table(1)).layer(Canned::new());
    let lanes = vec![service_lane(&runtime, "one method", one), service_lane(&runtime, "many", many)];
    let summaries = arguments.by_turns(lanes, Turns { rounds: 100, calls: 2000 });
    let counts = [1, count].map(|count| count.to_string());
    let rows: Vec<_> = counts.iter().zip(summaries).map(|(count, (_, row))| (&**count, row)).collect();
    let table = beside_first(&["methods", "ns a call", "x one method"], &rows, None, |row, _| {
        [format!("{:.0}", row.nanos), format!("{:.2}", row.ratio)]
    });
    print!("{table}");
    let each = f64::from(u32::try_from(info.bytes_current).unwrap_or(u32::MAX)) / f64::from(count);
    println!("  the layer of {count}: made in {made:.1?}, {each:.0} bytes a method");
}

/// Calls through a layer with a handle, whose table another thread replaces.
fn replaced(arguments: &Arguments) {
    let runtime = runtime();
    let handle = SettingsHandle::new(table(24));
    let fixed = RetryLayer::new(table(24)).layer(Canned::new());
    let live = || RetryLayer::live(&handle).layer(Canned::new());
    let is_busy = AtomicBool::new(false);
    let is_over = AtomicBool::new(false);
    let summaries = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if is_busy.load(Ordering::Relaxed) {
                    handle.replace(table(24)).expect("nobody refuses the table");
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let quiet = service_lane(&runtime, "a handle", live());
        let mut busy = service_lane(&runtime, "a handle, replaced 1,000 times a second", live());
        let busy = Lane::new(busy.name(), |calls| {
            is_busy.store(true, Ordering::Relaxed);
            let took = busy.turn(calls);
            is_busy.store(false, Ordering::Relaxed);
            took
        });
        let lanes = vec![service_lane(&runtime, "a fixed table", fixed), quiet, busy];
        let summaries = arguments.by_turns(lanes, Turns { rounds: 50, calls: 20_000 });
        is_over.store(true, Ordering::Relaxed);
        summaries
    });
    print!("{}", ratios(["settings", "ns a call", "x fixed"], &summaries, None));
    println!("  replaced {} times", handle.version() - 1);
}

/// Calls one after the other, and the memory that is held after some and after all of them.
fn flat(count: u32) {
    let service = || Canned::new().failing(1);
    let rows = [
        held(Layered::new(service(), Pace::AT_ONCE), count),
        held(Generated::new(service(), Pace::AT_ONCE), count),
    ];
    let headings = ["contender", "calls", "bytes held after a tenth", "after all"];
    let table = beside_first(&headings, &rows, None, |[some, all], _| {
        [count.to_string(), some.to_string(), all.to_string()]
    });
    print!("{table}");
}

/// One client in two threads, which share what its calls count; and a client of its own in each.
fn threads(calls: u32) {
    let pace = Pace::AT_ONCE;
    let raw = Raw::new(Canned::new());
    let layered = Layered::new(Canned::new(), pace);
    let generated = Generated::new(Canned::new(), pace);
    let mut rows = vec![
        (Raw::<Canned>::NAME, rates(|| raw.clone(), calls)),
        (Layered::<Canned>::NAME, rates(|| layered.clone(), calls)),
        (Generated::<Canned>::NAME, rates(|| generated.clone(), calls)),
        ("raw tonic client, one a thread", rates(|| Raw::new(Canned::new()), calls)),
        ("layer, one a thread", rates(|| Layered::new(Canned::new(), pace), calls)),
        ("generated client, one a thread", rates(|| Generated::new(Canned::new(), pace), calls)),
    ];
    let options: [Variant; 3] = [
        ("layer with a budget of tokens", |layer| {
            layer.options(OperationOptions::new().retry_budget(RetryBudget::tokens(100.0, 0.1)))
        }),
        ("layer with a budget by ratio", |layer| {
            layer.options(OperationOptions::new().retry_budget(RetryBudget::ratio(0.1)))
        }),
        ("layer, hedged at p95", |layer| {
            layer.hedging(Hedging::new(2).percentile(0.95).allow_non_idempotent())
        }),
    ];
    for (name, option) in options {
        let client = Layered::of(option(RetryLayer::new(table(24))).layer(Canned::new()));
        rows.push((name, rates(|| client.clone(), calls)));
    }
    let headings = ["contender", "calls/s, one thread", "two threads", "gain", "x raw's gain"];
    let table = beside_first(&headings, &rows, None, |[one, two], [raw_one, raw_two]| {
        let (gain, raw) = (two / one, raw_two / raw_one);
        [format!("{one:.0}"), format!("{two:.0}"), format!("{gain:.2}"), format!("{:.2}", gain / raw)]
    });
    print!("{table}");
}

/// A name, and how such a layer is made.
type Variant = (&'static str, fn(RetryLayer) -> RetryLayer);

/// A table with the method that is called, and so many in all.
fn table(methods: u32) -> RetryTable {
    let (settings, codes) = (Pace::AT_ONCE.settings(), Pace::codes());
    let first = RetryTable::builder().method(message::PATH, settings.clone(), codes);
    let table = (1..methods).fold(first, |table, number| {
        table.method(&format!("/bench.v1.Service{}/Method{number}", number / 100), settings.clone(), codes)
    });
    table.build().expect("the paths are some")
}

fn service_lane<'a>(runtime: &'a Runtime, name: &'static str, service: RetryService<Canned>) -> Lane<'a> {
    let message = message::payload(message::SMALL);
    Lane::calls(runtime, Way::Polled(Cost::Wall), Layered::of(service), message, 1).named(name)
}

fn parked_calls<C: Contender>(contender: &C, count: u32) -> (&'static str, [f64; 3]) {
    let message = message::payload(message::SMALL);
    (C::NAME, parked(count, || contender.start(message.clone())))
}

/// So many tasks that wait on a clock that stands still: the bytes that each holds, and the microseconds that it takes to begin it, and,
/// once the wait is over, to end it.
fn parked<F>(count: u32, mut start: impl FnMut() -> F) -> [f64; 3]
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let runtime = paused();
    let (tasks, bytes, park) = parking::park(&runtime, count, || tokio::spawn(start()));
    let watch = Stopwatch::start(Cost::Processor);
    runtime.block_on(async {
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(count);
    [bytes, micros(park), micros(watch.elapsed())]
}

/// The memory that is held after a tenth of so many calls, and after all of them, beside that before.
fn held<C: Contender>(mut contender: C, count: u32) -> (&'static str, [i64; 2]) {
    let runtime = runtime();
    let request = message::payload(message::SMALL);
    let mut calls = |calls: u32| {
        measure(|| {
            runtime.block_on(async {
                for _ in 0..calls {
                    drop(contender.call(request.clone()).await.expect("the service replies"));
                }
            });
        })
        .bytes_current
    };
    calls(1);
    let tenth = calls(count / 10);
    (C::NAME, [tenth, tenth + calls(count - count / 10)])
}

/// Calls a second in one thread and in two, the best of some rounds.
fn rates<C: Contender>(contender: impl Fn() -> C, calls: u32) -> [f64; 2] {
    [1, 2].map(|threads| {
        let best = (0..9).map(|_| {
            let contenders: Vec<C> = (0..threads).map(|_| contender()).collect();
            let watch = Stopwatch::start(Cost::Wall);
            std::thread::scope(|scope| {
                for mut contender in contenders {
                    scope.spawn(move || {
                        let run = async move {
                            for _ in 0..calls {
                                let request = message::payload(message::SMALL);
                                drop(contender.call(request).await?);
                            }
                            Ok::<_, Status>(())
                        };
                        runtime().block_on(run).expect("the service replies");
                    });
                }
            });
            f64::from(threads * calls) / watch.elapsed().as_secs_f64()
        });
        best.fold(0.0, f64::max)
    })
}
