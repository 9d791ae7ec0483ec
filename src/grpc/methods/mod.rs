//! The methods of a layer, and the config by which the calls of each are run.

mod config;
mod method_list;
mod method_map;
mod method_match;
mod shared_state;
#[cfg(feature = "tracing")]
mod unnamed_calls;

pub use config::MethodConfig;
pub(crate) use method_list::{MethodOptions, Methods};
pub use method_match::MethodMatch;
pub use shared_state::SharedState;
