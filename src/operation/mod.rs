//! What every transport's operations share: the clock, the timer slot, the report and its error.

pub(crate) mod blame;
mod blocking;
mod chain;
mod clock;
mod connect_problem;
mod driver;
mod ends;
mod error;
mod in_progress;
mod jitter;
mod name;
mod protocol;
mod report;
mod rows;
mod spare;
#[cfg(test)]
mod tests;
mod timer;

pub(crate) use blocking::run_blocking;
pub(crate) use chain::chain;
#[cfg(feature = "http")]
pub(crate) use clock::time_of_day;
pub(crate) use clock::{Clock, until};
pub use connect_problem::ConnectProblem;
pub(crate) use driver::{Driver, Finished};
#[cfg(feature = "http")]
pub(crate) use ends::Ends;
pub use error::OperationError;
pub(crate) use jitter::{Jitter, JitterSeeds};
pub(crate) use name::Name;
pub(crate) use protocol::{Current, Fact, Protocol, Unsendable};
pub(crate) use report::Ledger;
pub use report::{Note, OperationReport};
pub(crate) use spare::Spare;
pub(crate) use timer::Timer;
