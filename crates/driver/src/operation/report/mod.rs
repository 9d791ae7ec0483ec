//! Reports of operations: the attempts, why an operation ended, and what else is worth knowing.

mod connections;
mod delay;
mod delivered;
mod error;
mod ledger;
mod note;
mod operation_report;
mod rows;
#[cfg(feature = "serde")]
mod stored;
#[cfg(test)]
mod tests;

pub use connections::Peer;
pub use delay::{AttemptDelay, DelayType};
pub use error::OperationError;
pub(super) use ledger::Ledger;
pub use note::Note;
pub use operation_report::{Name, OperationReport, broken_off};
pub use rows::FirstAndLast;
