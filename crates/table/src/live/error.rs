//! Why settings were not replaced.

use crate::{Dialect, TableError};
use std::error::Error;
use std::fmt;

/// A table that was refused: the settings stay as they were.
#[derive(Debug)]
pub struct ReplaceError(Box<Kind>);

#[derive(Debug)]
enum Kind {
    Table(TableError),
    Dialect {
        old: Dialect,
        new: Dialect,
    },
    Refused(Box<dyn Error + Send + Sync>),
    #[cfg(feature = "watch")]
    File {
        path: String,
        /// The action that failed, as a participle.
        verb: &'static str,
        help: &'static str,
        error: Box<dyn Error + Send + Sync>,
    },
}

impl ReplaceError {
    pub(super) fn dialect(old: Dialect, new: Dialect) -> Self {
        Self(Box::new(Kind::Dialect { old, new }))
    }

    pub(super) fn refused(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Box::new(Kind::Refused(error.into())))
    }

    #[cfg(feature = "watch")]
    pub(super) fn file(
        path: &std::path::Path,
        (verb, help): (&'static str, &'static str),
        error: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self(Box::new(Kind::File { path: path.display().to_string(), verb, help, error: error.into() }))
    }

    /// The error of a table that can't be read, with the place in its file.
    #[must_use]
    pub fn table_error(&self) -> Option<&TableError> {
        match &*self.0 {
            Kind::Table(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TableError> for ReplaceError {
    fn from(error: TableError) -> Self {
        Self(Box::new(Kind::Table(error)))
    }
}

impl fmt::Display for ReplaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Table(error) => error.fmt(f),
            Kind::Dialect { old, new } => write!(
                f,
                "a table in the dialect {new} can't replace one in {old}; read it in the dialect of the first"
            ),
            Kind::Refused(error) => error.fmt(f),
            #[cfg(feature = "watch")]
            Kind::File { path, verb, help, error } => write!(f, "{path:?} can't be {verb}: {error}; {help}"),
        }
    }
}

impl Error for ReplaceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &*self.0 {
            // It prints as that error does.
            Kind::Table(error) => error.source(),
            Kind::Refused(error) => error.source(),
            Kind::Dialect { .. } => None,
            #[cfg(feature = "watch")]
            Kind::File { error, .. } => Some(&**error),
        }
    }
}
