//! A client to run.

use crate::failure::Failure;
use std::ffi::OsString;
use std::process::Stdio;
use tokio::process::{Child, Command};

/// Starts a command, with these words in place of those in braces; `None`: it has no words.
pub(in crate::command) fn start(
    words: &[OsString],
    places: &[(&str, &str)],
    stdout: Stdio,
) -> Result<Option<Child>, Failure> {
    let filled = |word: &OsString| match word.to_str() {
        Some(text) => {
            places.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value)).into()
        }
        None => word.clone(),
    };
    let mut words = words.iter().map(filled);
    let Some(program) = words.next() else { return Ok(None) };
    let started = Command::new(&program).args(words).stdout(stdout).kill_on_drop(true).spawn();
    started.map(Some).map_err(|error| {
        Failure::Usage(format!("{} can't be started ({error}); name a program", program.display()))
    })
}
