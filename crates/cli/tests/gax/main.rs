//! Runs the command as a user does and looks at all that comes out.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test that calls it")]

mod clients;
mod conformance;
mod delays;
mod descriptor_sets;
mod files;
mod folders;
mod forty_services;
mod generate;
mod generate_out;
mod help;
mod hostile;
mod lint_corpus;
mod lint_page;
mod messages;
mod mixed;
mod output;
mod plan;
mod plan_misuse;
mod plan_table;
mod sarif_shape;
mod serve;
mod table_compare;
mod table_convert;
mod table_diff;
mod table_http;
mod table_idempotent;
mod table_lint;
mod table_lint_files;
mod table_show;
mod terminal;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

/// The settings of the documentation's second to fourth table but for the timeouts.
const GROWING: &str = "--initial-retry-delay 200ms --retry-delay-multiplier 2 --max-retry-delay 500ms \
                       --rpc-timeout-multiplier 2";

/// Runs `gax` with arguments, in the folder of the fixtures.
fn gax<'a>(args: impl IntoIterator<Item = &'a str>) -> Output {
    gax_with([], args)
}

/// Runs the command with these environment variables.
fn gax_with<'a>(
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    args: impl IntoIterator<Item = &'a str>,
) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(args)
        .env_remove("GAX_RETRIES")
        .env_remove("GAX_TOTAL_TIMEOUT")
        .env_remove("GAX_MAX_ATTEMPTS")
        .envs(variables)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures"))
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap()
}

/// Everything that a run of `gax` with those words leaves: the command line, both streams, the status.
fn session(line: &str) -> String {
    session_of(line, line.split_whitespace())
}

fn session_of<'a>(line: &str, args: impl IntoIterator<Item = &'a str>) -> String {
    transcript(line, gax(args))
}

/// The command line, and everything that the run left.
fn transcript(line: &str, output: Output) -> String {
    let mut text = format!("$ gax {line}\n{}", String::from_utf8(output.stdout).unwrap());
    if !output.stderr.is_empty() {
        let _infallible = write!(text, "--- stderr\n{}", String::from_utf8(output.stderr).unwrap());
    }
    let _infallible = writeln!(text, "--- exit status {}", output.status.code().unwrap());
    text
}

/// Standard output of a run that succeeds.
fn stdout(line: &str) -> String {
    let output = gax(line.split_whitespace());
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder of its own for a test, empty.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
