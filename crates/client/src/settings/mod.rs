//! The settings a user sets: per RPC, per stub, per client and per call.

pub(crate) mod call_settings;
pub(crate) mod client_config;
pub(crate) mod client_settings;
pub(crate) mod method_info;
mod operation_call_settings;
#[cfg(feature = "serde")]
mod stored_settings;
pub(crate) mod stub_settings;

pub use call_settings::CallSettings;
pub(crate) use client_config::ClientConfig;
pub use client_settings::ClientSettings;
pub use method_info::MethodInfo;
pub use operation_call_settings::OperationCallSettings;
