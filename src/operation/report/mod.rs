//! What an operation did: its attempts, why it ended, and what else is worth knowing.

mod connect_problem;
mod detail;
mod ends;
mod error;
mod ledger;
mod name;
mod note;
mod operation_report;
mod rows;
#[cfg(feature = "serde")]
mod stored;
#[cfg(test)]
mod tests;

pub use connect_problem::ConnectProblem;
pub(crate) use detail::Detail;
#[cfg(feature = "http")]
pub(crate) use ends::Ends;
pub use error::OperationError;
pub(crate) use ledger::Ledger;
pub(crate) use name::Name;
pub use note::Note;
pub use operation_report::OperationReport;
