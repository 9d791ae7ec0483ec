//! The `gax` command.

mod command;
mod failure;
mod folder;
mod generated;
mod git;
mod input;
mod render;
mod server;
mod usage;
mod value;

use failure::Failure;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = match command::parse() {
        Ok(command) => command.run(),
        Err(error) => Err(Failure::from(error)),
    };
    match outcome {
        Ok(status) => status,
        Err(failure) => report(&failure),
    }
}

/// Prints what went wrong, if anyone is there to read it.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Shown(text) => {
            let mut out = anstream::stdout();
            let _unread = write!(out, "{text}").and_then(|()| out.flush());
        }
        Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        _ => {
            let _unread =
                writeln!(anstream::stderr(), "{}error:{:#} {failure}", render::ERROR, render::ERROR);
        }
    }
    failure.status()
}
