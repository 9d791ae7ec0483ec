//! The methods of a table, and the config by which the calls of each are run.

#[cfg(feature = "tables")]
mod annotations;
mod config;
#[cfg(feature = "tables")]
mod descriptor_error;
#[cfg(feature = "tables")]
pub(super) mod descriptors;
#[cfg(feature = "tables")]
mod live_table;
#[cfg(feature = "tables")]
mod method_map;
mod method_match;
mod shared_state;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tables")]
pub(super) mod unknown;
#[cfg(all(feature = "tables", feature = "tracing"))]
mod unnamed_calls;

pub(crate) use config::MethodConfig;
#[cfg(feature = "tables")]
pub use descriptor_error::DescriptorError;
#[cfg(feature = "tables")]
pub(crate) use live_table::LiveTable;
pub(crate) use method_match::MethodMatch;
pub(crate) use shared_state::SharedState;
#[cfg(feature = "tables")]
pub(crate) use table::{MethodOptions, Methods};
