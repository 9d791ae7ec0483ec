//! Large tables: how long each `gax table` command takes, and the most memory that it takes, beside the text.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use allocation_counter::measure;
use std::error::Error;
use tonic_gax_benches::arguments::Arguments;
use tonic_gax_benches::table::Table;
use tonic_gax_benches::table_command;

/// As many methods or definitions.
const ROWS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    if table_command::run_if_asked(gax::run, |run| measure(run).bytes_max)? {
        return Ok(());
    }
    let mut printed = Table::new(&["table", "form", "gax table", "ms", "peak, times the text"]);
    for measured in table_command::measure(if Arguments::read().is_quick() { 100 } else { ROWS })? {
        let peak = measured.peak * 10 / measured.text;
        printed.row([
            measured.shape.to_owned(),
            measured.form.to_owned(),
            measured.command.to_owned(),
            measured.milliseconds.to_string(),
            format!("{}.{}", peak / 10, peak % 10),
        ]);
    }
    println!("{}", printed.text());
    Ok(())
}
