//! Errors, dead settings and unsafe retries in a retry table: one [`Rule`] for each thing worth saying.
//!
//! Some rules need the table alone, others the services that it is for, as descriptors have them. What can
//! only be seen while a file is read (a field that is not known, a name that occurs twice) is said by its
//! reader; see [`RetryTable::findings`](crate::RetryTable::findings). A [`Linter`] gives both.
//!
//! # Examples
//!
//! ```
//! use gax_table::RetryTable;
//! use gax_table::lint::Linter;
//!
//! let table = RetryTable::parse(
//!     r#"{"methodConfig": [{
//!         "name": [{"service": "google.example.v1.Library"}],
//!         "timeout": "5s",
//!         "retryPolicy": {
//!             "maxAttempts": 5, "initialBackoff": "1s", "maxBackoff": "10s", "backoffMultiplier": 1.3,
//!             "retryableStatusCodes": ["UNAVAILABLE"]
//!         }
//!     }]}"#,
//! )?;
//! let findings = Linter::new().run(&table);
//! assert_eq!(findings[0].rule(), "cap-above-timeout");
//! # Ok::<(), gax_table::TableError>(())
//! ```

mod action;
mod linter;
mod report;
mod rule;
mod rules;
mod services;
mod subject;
mod suppressed;
#[cfg(test)]
#[cfg(feature = "json")]
mod tests;
mod verbs;
mod version;

pub use linter::{Linter, Target, UnknownTargetError};
pub use rule::{Needs, Rule};
pub use rules::{page, rules, sibling_drift};
