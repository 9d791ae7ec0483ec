//! Long-running operations: polling until they are done.

mod config;
mod error;
mod generated;
mod handle;
mod methods;
mod poll;
mod protocol;
mod types;

pub(super) use config::First;
pub use error::{LongRunningEnd, LongRunningError};
pub(crate) use generated::google;
pub use handle::{LongRunning, Progress};
pub(super) use handle::{resume, start};
pub(super) use methods::LongRunningMethods;
pub use poll::{PollingSettings, poll};
pub use protocol::LONG_RUNNING;
pub(super) use protocol::{BoxCall, OperationsServer};
