//! Messages about tables: errors, findings, and places in files.

mod error;
mod finding;
mod findings;
mod source_location;

pub use error::TableError;
pub use finding::{Finding, Severity};
pub(crate) use findings::Findings;
pub use source_location::SourceLocation;
