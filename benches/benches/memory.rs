//! Allocations and bytes, which are the same in every run, and what a parked operation holds.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

mod parking;

use allocation_counter::{AllocationInfo, measure};
use tokio::task::JoinHandle;
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::bench::Payload;
use tonic_gax_benches::canned::Canned;
use tonic_gax_benches::contender::{Bare, Contender, Raw, RawTimeout, Visitor, each_retrying};
use tonic_gax_benches::measure::runtime;
use tonic_gax_benches::message;
use tonic_gax_benches::pace::Pace;
use tonic_gax_benches::table::beside_first;

fn main() {
    let arguments = Arguments::read();
    arguments.case("canned, ready at once", || canned(&Canned::new()));
    arguments.case("canned, pending once", || canned(&Canned::new().pending_once()));
    arguments.case("one retry, beside two raw calls", one_retry);
    arguments.case("1 MiB, 3 attempts: bytes beside one raw attempt", large);
    arguments.case("parked in back-off", || all_parked(if arguments.is_quick() { 100 } else { 100_000 }));
}

/// A name, and the allocations and bytes of a call.
type Row = (&'static str, [i64; 2]);

fn canned(service: &Canned) {
    let mut rows = Rows::new(message::SMALL);
    rows.visit(Raw::new(service.clone()));
    rows.visit(RawTimeout::new(service.clone()));
    rows.visit(Bare::new(service.clone()));
    each_retrying(|| service.clone(), Pace::AT_ONCE, &mut rows);
    print_over(&rows.rows, "raw", ("<= +1, <= +160", "<= -9, <= -17000"));
}

/// Operations that have failed once and wait, each of them a task.
fn all_parked(count: u32) {
    let service = Canned::new().failing(u32::MAX);
    let mut parking = Parking { count, rows: Vec::new() };
    let sleep = parked(count, || tokio::spawn(tokio::time::sleep(Pace::PARKED.delay)));
    parking.rows.push(("a bare sleep", sleep));
    each_retrying(|| service.clone(), Pace::PARKED, &mut parking);
    let headings = ["contender", "live bytes each", "processor us each"];
    let targets = Some(("<= 2450, <= 5.0", "<= 1280, <= 3.6"));
    let table = beside_first(&headings, &parking.rows, targets, |(bytes, micros), _| {
        [format!("{bytes:.0}"), format!("{micros:.2}")]
    });
    print!("{table}");
}

/// The bytes and the microseconds of an operation that waits.
type Parked = (f64, f64);

/// The parked operations of each contender.
struct Parking {
    count: u32,
    rows: Vec<(&'static str, Parked)>,
}

impl Visitor for Parking {
    fn visit<C: Contender>(&mut self, contender: C) {
        let message = message::payload(message::SMALL);
        // The call itself is the task: an `async` block around it would hold it twice, as what it captured and as
        // what it awaits.
        let parked = parked(self.count, || tokio::spawn(contender.start(message.clone())));
        self.rows.push((C::NAME, parked));
    }
}

fn one_retry() {
    let mut rows = Rows::new(message::SMALL);
    let (_, raw) = row(Raw::new(Canned::new().failing(1)), &rows.message, 2);
    rows.rows.push(("two raw calls", raw));
    each_retrying(|| Canned::new().failing(1), Pace::AT_ONCE, &mut rows);
    print_over(&rows.rows, "two raw calls", ("<= -1", "<= -12"));
}

fn large() {
    let mut rows = Rows::new(message::LARGE);
    rows.visit(Raw::new(Canned::new()));
    each_retrying(|| Canned::new().failing(2), Pace::AT_ONCE, &mut rows);
    let headings = ["contender", "allocations", "bytes", "over one raw attempt"];
    let targets = Some(("<= 4096", "<= 3072"));
    let table = beside_first(&headings, &rows.rows, targets, |[count, bytes], [_, raw]| {
        [count.to_string(), bytes.to_string(), format!("{:+}", bytes - raw)]
    });
    print!("{table}");
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
    (C::NAME, [each(|info| info.count_total), each(|info| info.bytes_total)])
}

fn print_over(rows: &[Row], base: &str, targets: (&str, &str)) {
    let over = ["allocations", "bytes"].map(|what| format!("{what} over {base}"));
    let headings = ["contender", "allocations", "bytes", &over[0], &over[1]];
    let table = beside_first(&headings, rows, Some(targets), |[count, bytes], first| {
        let [over_count, over_bytes] = [count - first[0], bytes - first[1]];
        [count.to_string(), bytes.to_string(), format!("{over_count:+}"), format!("{over_bytes:+}")]
    });
    print!("{table}");
}

fn parked<T: Send + 'static>(count: u32, spawn: impl FnMut() -> JoinHandle<T>) -> Parked {
    let runtime = runtime();
    let (_tasks, bytes, time) = parking::park(&runtime, count, spawn);
    (bytes, time.as_secs_f64() * 1e6 / f64::from(count))
}
