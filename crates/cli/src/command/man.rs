//! `gax man`: manual pages.

use crate::command::print;
use crate::failure::{Failure, usage};
use clap::{Args, Command};
use clap_mangen::{Man, generate_to};
use gax_text::closest;
use std::path::{Path, PathBuf};

/// Print the manual page of gax or of one of its commands
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// The command, such as table lint; without it the page is that of gax itself
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Write the pages of all commands into this directory, which is created if it does not exist
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  gax man table lint | man -l -
  gax man --out ~/.local/share/man/man1";

pub(crate) fn run(args: &ManArgs, mut command: Command) -> Result<(), Failure> {
    command.build();
    match &args.out {
        Some(directory) => write_all(command, directory),
        None => print(&page(&command, &args.command)?),
    }
}

fn write_all(command: Command, directory: &Path) -> Result<(), Failure> {
    let written = std::fs::create_dir_all(directory).and_then(|()| generate_to(command, directory));
    written.map_err(|error| {
        usage!(
            "--out {}: can't write there ({error}); name a directory that can be written to",
            directory.display()
        )
    })
}

fn page(gax: &Command, names: &[String]) -> Result<String, Failure> {
    let mut command = gax;
    for name in names {
        command = command.find_subcommand(name).ok_or_else(|| unknown(command, name))?;
    }
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn unknown(command: &Command, name: &str) -> Failure {
    let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let advice = match closest(name, known.iter().copied()) {
        Some(close) => format!("did you mean {close}?"),
        None if known.is_empty() => "leave it out".to_owned(),
        None => format!("write one of {}", known.join(", ")),
    };
    usage!("{name} is not a command of {}; {advice}", command.get_bin_name().unwrap_or("gax"))
}
