//! The methods of a table, and the plan by which the calls of each are run.

mod attempt_headers;
#[cfg(feature = "tables")]
mod called;
#[cfg(feature = "tables")]
pub(super) mod descriptors;
mod found;
#[cfg(feature = "tables")]
mod learned;
#[cfg(feature = "live")]
mod live_table;
mod plan;
mod previous_attempts;
mod replay_memory;
#[cfg(feature = "tables")]
mod table;
pub(super) mod timeout;

#[cfg(feature = "tables")]
pub(super) mod unknown;
mod usual;

pub(crate) use attempt_headers::{AttemptHeaders, AttemptTimeout, GRPC, TRAILERS};
#[cfg(feature = "tables")]
pub use descriptors::DescriptorError;
pub(crate) use found::Found;
#[cfg(feature = "live")]
pub(crate) use live_table::LiveTable;
pub(crate) use plan::MethodPlan;
pub(crate) use previous_attempts::{PREVIOUS_ATTEMPTS, previous_attempts};
pub(crate) use replay_memory::{Limit, ReplayMemory, Reserved};
#[cfg(feature = "tables")]
pub(crate) use table::{MethodOptions, Methods};
pub(crate) use usual::Usual;
