//! Warnings of a table that was taken.

use crate::Finding;
use std::fmt;

/// Something worth a warning in a table that has replaced another one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SettingsWarning {
    /// Nothing is retried any longer, where something was.
    #[non_exhaustive]
    NothingRetried {
        /// The service of which that is true; `None`: of all.
        service: Option<String>,
    },
    /// The table names methods that no client knows, or services, where all who follow the handle know theirs. A table may
    /// be newer than its clients.
    #[non_exhaustive]
    UnknownNames {
        /// A finding for each name.
        names: Vec<Finding>,
    },
}

impl fmt::Display for SettingsWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingRetried { service: None } => f.write_str("nothing is retried any more"),
            Self::NothingRetried { service: Some(service) } => {
                write!(f, "no method of {service} is retried any more")
            }
            Self::UnknownNames { names } => {
                f.write_str("the table names what no client knows")?;
                if let Some(first) = names.first() {
                    write!(f, ": {first}")?;
                }
                match names.len() {
                    0 | 1 => Ok(()),
                    count => write!(f, "; and {} more", count - 1),
                }
            }
        }
    }
}
