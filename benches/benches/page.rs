//! Runs the benches, and prints the table of the guide's page about performance.
//!
//! `cargo bench -p tonic-gax-benches --bench page`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints what the benches measured")]

use std::process::{Command, Stdio};
use tonic_gax_benches::page::{Figures, table};

/// The benches with the cases that they run, all if none are named. Times differ from process to process, so that the table has the
/// medians of three; what is counted is the same in each.
const RUNS: [(&str, &[&str]); 5] =
    [("speed", &[]), ("speed", TIMED), ("speed", TIMED), ("memory", &[]), ("streams", &[])];

/// The cases of `speed` that take times.
const TIMED: &[&str] = &["canned", "zero-delay", "loopback", "one retry", "1 MiB"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    for (bench, cases) in RUNS {
        eprintln!("{bench} ..");
        let output = Command::new(env!("CARGO"))
            .args(["bench", "-p", "tonic-gax-benches", "--features", "peers", "--bench", bench, "--"])
            .args(cases)
            .args(std::env::args().skip(1))
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("the bench \"{bench}\" failed").into());
        }
        let printed = String::from_utf8(output.stdout)?;
        eprint!("{printed}");
        text.push_str(&printed);
    }
    print!("{}", table(&Figures::of(&text)));
    Ok(())
}
