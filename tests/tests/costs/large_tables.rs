//! No command holds more than twenty times a table's text, and the linter, which reads it as four other clients do, than sixty times. It has no harness, since each table has a process of its own, which
//! counts what is allocated.
#![expect(clippy::print_stdout, reason = "it says that it passed, as a harness would")]

use allocation_counter::measure;
use std::error::Error;
use tonic_gax_benches::table_command::{self, Measured};

/// Few enough for a build without optimization.
const ROWS: usize = 100;
/// The most memory that a command may hold at once, in lengths of the text.
const MOST: u64 = 20;
const MAX_TO_LINT: u64 = 60;
/// Memory that the command holds for any table: its flags, and room for output.
const OWN: u64 = 150_000;

fn main() -> Result<(), Box<dyn Error>> {
    if table_command::run_if_asked(gax::run, |run| measure(run).bytes_max)? {
        return Ok(());
    }
    let all = table_command::measure(ROWS)?;
    let too_much = |measured: &&Measured| {
        let most = if measured.command.starts_with("lint") { MAX_TO_LINT } else { MOST };
        measured.peak > most * measured.text + OWN
    };
    let sentence = |Measured { shape, form, command, peak, text, .. }: &Measured| {
        format!("{command} of {shape} in {form}: {} lengths of the text", peak / text)
    };
    let wrong: Vec<String> = all.iter().filter(too_much).map(sentence).collect();
    assert_eq!(wrong, [""; 0]);
    println!("{} runs: ok", all.len());
    Ok(())
}
