//! What every transport's operations share: the clock, the timer slot, the report and its error.

mod clock;
mod error;
mod report;
mod timer;

pub(crate) use clock::Clock;
pub use error::OperationError;
pub use report::{Note, OperationReport};
pub(crate) use report::Ledger;
pub(crate) use timer::Timer;
