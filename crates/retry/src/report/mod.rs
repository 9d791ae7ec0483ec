//! The attempts of an operation: the rows of plans and reports, and the table that people read.

mod attempt;
#[cfg(feature = "attempt-table")]
mod attempt_table;

pub use attempt::Attempt;
#[cfg(feature = "attempt-table")]
pub use attempt_table::{AttemptRow, AttemptTable};
