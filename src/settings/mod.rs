//! The settings a user sets: per RPC, per stub, per client and per call.

pub(crate) mod call_settings;
pub(crate) mod client_config;
pub(crate) mod client_settings;
mod codec;
#[cfg(feature = "tables")]
mod followed;
pub(crate) mod method_info;
mod operation_call_settings;
pub(crate) mod request_ext;
#[cfg(feature = "serde")]
mod stored_settings;
mod stream_settings;
pub(crate) mod stub_settings;

pub(crate) use call_settings::CallSettings;
pub(crate) use client_config::ClientConfig;
#[cfg(feature = "tables")]
pub(crate) use client_config::Followed;
pub use client_settings::ClientSettings;
pub(crate) use codec::Codec;
pub use gax_driver::RetryBudgets;
pub use gax_retry::environment::EnvironmentError;
pub use gax_retry::settings::{Override, RetryDelays, SettingsOverrides, SettingsProblem};
pub use gax_retry::{
    BatchingSettings, BatchingSettingsBuilder, Environment, IntoCodes, LimitExceeded, MethodKind,
    ParseCodeError, Policy,
};
pub(crate) use method_info::MethodInfo;
pub use operation_call_settings::OperationCallSettings;
pub(crate) use request_ext::RequestExt;
pub(crate) use stream_settings::StreamSettings;
