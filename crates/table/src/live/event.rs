//! The events that listeners are notified of.

use crate::RetryTable;
use crate::live::error::ReplaceError;
use crate::live::warning::SettingsWarning;
use std::fmt;
use std::path::Path;

/// Settings were replaced, a table was refused or has something odd, or a file is watched or not watched any longer. It prints one sentence for
/// a log.
#[derive(Debug)]
#[non_exhaustive]
pub enum SettingsEvent<'a> {
    /// Operations that begin from now on run by this table.
    #[non_exhaustive]
    Replaced {
        /// The version of the settings, as reports, spans and metrics name it.
        version: u64,
        /// The table.
        table: &'a RetryTable,
    },
    /// A table was refused. The settings stay as they were.
    #[non_exhaustive]
    Refused {
        /// The version of the settings that stay.
        version: u64,
        /// Why the table was refused.
        error: &'a ReplaceError,
    },
    /// Something is worth a warning in a table that has just replaced another one.
    #[non_exhaustive]
    Warning {
        /// The version of the settings.
        version: u64,
        /// The warning.
        warning: &'a SettingsWarning,
    },
    /// A file is watched: from now on or, after its folder was away, again.
    #[non_exhaustive]
    Watching {
        /// The version of the settings.
        version: u64,
        /// The file.
        path: &'a Path,
    },
    /// A file is no longer watched, and the settings stay as they are: the `Watch` was dropped.
    #[non_exhaustive]
    WatchEnded {
        /// The version of the settings that stay.
        version: u64,
        /// The file.
        path: &'a Path,
    },
}

impl fmt::Display for SettingsEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { version, table } => {
                write!(f, "retry settings are replaced by version {version}")?;
                match table.findings() {
                    [] => Ok(()),
                    [first, rest @ ..] => {
                        write!(f, ", whose table has findings: {first}")?;
                        if rest.is_empty() { Ok(()) } else { write!(f, "; and {} more", rest.len()) }
                    }
                }
            }
            Self::Refused { version, error } => write!(
                f,
                "retry settings stay at version {version}, because the new table is rejected: {error}"
            ),
            Self::Warning { version, warning } => write!(f, "retry settings of version {version}: {warning}"),
            Self::Watching { version, path } => write!(
                f,
                "the retry settings are read from the watched file {}, and have version {version}",
                path.display()
            ),
            Self::WatchEnded { version, path } => write!(
                f,
                "retry settings stay at version {version}: the file {} is no longer watched",
                path.display()
            ),
        }
    }
}
