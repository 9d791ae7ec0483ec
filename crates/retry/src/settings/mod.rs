//! The limits and back-off of one RPC: how they are made, checked, changed by a call, and compared.

mod builder;
mod constant;
mod delays;
mod error;
mod overrides;
mod retry_settings;
mod rpc_timeout;
#[cfg(test)]
mod tests;

pub use builder::RetrySettingsBuilder;
pub use constant::ConstSettings;
pub use delays::RetryDelays;
pub use error::{SettingsError, SettingsProblem};
pub use overrides::{Override, SettingsOverrides};
pub use retry_settings::RetrySettings;
pub(crate) use rpc_timeout::RpcTimeout;
