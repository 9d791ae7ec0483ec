//! Drives mixed calls against servers that misbehave, over sockets, until the time is up; exit status 1 if anything was
//! lost, leaked or miscounted.
//!
//! `cargo run --release -p tonic-gax-tests --bin soak -- --seconds 600`

use std::process::ExitCode;
use tonic_gax_tests::soak::{Soak, SoakOptions};

fn main() -> ExitCode {
    let options = match SoakOptions::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("error: {problem}; write soak [--seconds N] [--callers N] [--seed N]");
            return ExitCode::from(2);
        }
    };
    match Soak::new(options).run(|line| println!("{line}")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
