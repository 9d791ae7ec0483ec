//! Why a command did not do what it was asked, and the exit status that says so.

use gax_table::TableError;
use gax_text::Escaped;
use std::fmt;
use std::process::ExitCode;

/// The exit status of a command that found something wrong.
pub(crate) const FINDINGS: u8 = 1;
/// The exit status of a command that was used the wrong way, or that can't write its output.
pub(crate) const BAD_USE: u8 = 2;

/// A command that can't continue.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The flags or files given make no sense; one sentence says why and what to do.
    Usage(String),
    /// A table has no meaning.
    Table(TableError),
    /// The thing that was tried went wrong.
    Run(String),
    /// Standard output is not to be written to.
    Output(std::io::Error),
    /// Nothing is wrong: the help or version that was asked for, in styles.
    Shown(clap::builder::StyledStr),
}

/// The failure of a command whose flags or files make no sense: the text says why and what to do, as in `format!`.
macro_rules! usage {
    ($($text:tt)+) => {
        $crate::failure::Failure::Usage(format!($($text)+))
    };
}
pub(crate) use usage;

impl Failure {
    pub(crate) fn status(&self) -> ExitCode {
        match self {
            // Output that is lost says nothing about what was found.
            Failure::Usage(_) | Failure::Table(_) | Failure::Output(_) => ExitCode::from(BAD_USE),
            Failure::Run(_) => ExitCode::from(FINDINGS),
            Failure::Shown(_) => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(sentence) | Failure::Run(sentence) => write!(f, "{}", Escaped(sentence)),
            Failure::Table(error) => error.fmt(f),
            Failure::Output(error) => {
                write!(f, "standard output can't be written to ({error}); write to another file or device")
            }
            Failure::Shown(text) => write!(f, "{}", text.ansi()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Output(error)
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        use clap::error::ErrorKind;
        match error.kind() {
            // `gax` and `gax table` alone list their commands.
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Failure::Shown(error.render()),
            _ => Failure::Usage(crate::usage::sentence(&error)),
        }
    }
}
