//! The attempts of an operation: the rows of plans and reports, and the table that people read.

mod attempt;
mod attempt_table;

pub use attempt::Attempt;
pub use attempt_table::{AttemptRow, AttemptTable};
