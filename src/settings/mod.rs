//! The settings a user sets: per RPC, per stub, per client and per call.

mod call_options;
mod call_settings;
mod client_config;
mod client_settings;
mod codec;
mod method_info;
mod operation_call_settings;
mod operation_config;
mod operation_options;
mod retry_budgets;
#[cfg(feature = "serde")]
mod stored_options;
#[cfg(feature = "serde")]
mod stored_settings;
#[cfg(test)]
#[cfg(feature = "serde")]
mod stored_tests;
mod stream_settings;
mod stub_settings;
#[cfg(feature = "serde")]
mod two_words;

pub use call_options::{CallOptions, RequestExt};
pub use call_settings::CallSettings;
pub(crate) use client_config::BufferLimits;
#[doc(hidden)]
pub use client_config::ClientConfig;
pub use client_settings::ClientSettings;
#[doc(hidden)]
pub use client_settings::{GoogleStub, ServiceStub};
pub(crate) use codec::Codec;
pub use gax_retry::environment::EnvironmentError;
pub use gax_retry::settings::{Override, RetryDelays, SettingsOverrides, SettingsProblem};
pub use gax_retry::{
    BatchingSettings, BatchingSettingsBuilder, Environment, IntoCodes, LimitExceeded, MethodKind,
    ParseCodeError, Policy,
};
pub use method_info::MethodInfo;
pub use operation_call_settings::OperationCallSettings;
#[cfg(feature = "protocol-preview")]
pub use operation_config::OperationConfig;
#[cfg(not(feature = "protocol-preview"))]
pub(crate) use operation_config::OperationConfig;
pub use operation_options::OperationOptions;
pub use retry_budgets::RetryBudgets;
pub(crate) use stream_settings::StreamSettings;
#[doc(hidden)]
pub use stub_settings::StubSettings;
#[cfg(all(feature = "serde", feature = "http"))]
pub(crate) use two_words::{read_override, write_override};
