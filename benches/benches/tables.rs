//! Large tables: how long it takes to read, lint and convert them, and the most memory that it takes, beside the text.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use allocation_counter::measure;
use gax_table::lint::Linter;
use gax_table::{ConversionTarget, RetryTable};
use std::hint::black_box;
use tonic_gax_benches::large_table::SHAPES;
use tonic_gax_benches::measure::{Cost, Stopwatch};
use tonic_gax_benches::table::Table;

/// As many methods or definitions.
const ROWS: usize = 20_000;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--quick");
    let rows = if quick { 200 } else { ROWS };
    let mut printed = Table::new(&["table", "what", "ms", "peak, times the text"]);
    for (name, text) in SHAPES {
        let text = text(rows);
        let Ok(table) = RetryTable::parse(&text) else { continue };
        let mut row = |what: &str, run: &mut dyn FnMut()| {
            let stopwatch = Stopwatch::start(Cost::Wall);
            run();
            let time = stopwatch.elapsed().as_millis().to_string();
            let most = measure(run).bytes_max / text.len() as u64;
            printed.row([name.to_owned(), what.to_owned(), time, most.to_string()]);
        };
        row("read", &mut || drop(black_box(RetryTable::parse(&text))));
        row("read and lint", &mut || {
            drop(black_box(RetryTable::parse(&text).map(|table| Linter::new().run(&table))));
        });
        for target in ConversionTarget::ALL {
            row(&format!("convert to {target}"), &mut || drop(black_box(table.convert(*target))));
        }
    }
    println!("{}", printed.text());
}
