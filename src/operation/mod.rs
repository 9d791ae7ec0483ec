//! What every transport's operations share: the clock, the timer slot, the report and its error.

pub(crate) mod blame;
mod burst;
mod chain;
mod clock;
mod connect_problem;
mod ends;
mod error;
mod jitter;
mod name;
mod report;
mod resends;
mod rows;
mod spare;
mod timer;

pub(crate) use burst::BURST;
pub(crate) use chain::chain;
#[cfg(feature = "http")]
pub(crate) use clock::time_of_day;
pub(crate) use clock::{Clock, until};
pub use connect_problem::ConnectProblem;
#[cfg(feature = "http")]
pub(crate) use ends::Ends;
pub use error::OperationError;
pub(crate) use jitter::{Jitter, JitterSeeds};
pub(crate) use name::Name;
pub(crate) use report::Ledger;
pub use report::{Note, OperationReport};
pub(crate) use resends::{Loss, Resends};
pub(crate) use spare::Spare;
pub(crate) use timer::Timer;
