//! The `gax` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    gax::run(std::env::args_os())
}
