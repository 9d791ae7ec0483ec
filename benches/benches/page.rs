//! Runs the benches, and prints the table of the guide's page about performance.
//!
//! `cargo bench -p tonic-gax-benches --bench page`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints what the benches measured")]

use std::process::{Command, Stdio};
use tonic_gax_benches::page::{Figures, table, timed};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    // Times differ from process to process: the table has the medians of three. Without cases a bench runs all.
    let timed: Vec<&str> = timed().collect();
    for (bench, cases) in
        [("speed", &[][..]), ("speed", &timed), ("speed", &timed), ("memory", &[]), ("streams", &[])]
    {
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
