//! `gax completions`: commands and flags that a shell completes.

use crate::command::print;
use crate::failure::Failure;
use clap::{Args, Command};
use clap_complete::{Shell, generate};

/// Print a script that completes gax's commands and flags in a shell
///
/// Put the script where your shell looks for completions; docs/src/reference/command.md has the places.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell that will read the script
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  gax completions bash > ~/.local/share/bash-completion/completions/gax
  gax completions zsh > \"${fpath[1]}/_gax\"
  gax completions fish > ~/.config/fish/completions/gax.fish";

pub(crate) fn run(args: &CompletionsArgs, mut command: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut command, "gax", &mut script);
    print(&String::from_utf8_lossy(&script))
}
