#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod command;
mod conformance;
mod failure;
mod folder;
mod git;
mod input;
mod render;
mod usage;
mod value;

use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command with these arguments, the first of which is its own name. It prints to standard output and
/// standard error.
///
/// This is for programs that measure the command in their own process. To plan, read or check retries from a program use
/// `gax-retry`, `gax-table` and `tonic-gax`.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let outcome = match command::parse(arguments) {
        Ok(command) => command.run(),
        Err(error) => Err(Failure::from(error)),
    };
    match outcome {
        Ok(status) => status,
        Err(failure) => command::report(&failure),
    }
}
