//! The settings of many methods, as plain data.

#[cfg(feature = "http")]
mod http_policies;
mod method_facts;
mod method_policies;
mod method_settings;
mod retry_throttling;

#[cfg(feature = "http")]
pub use http_policies::{HttpPolicies, HttpSettings};
pub use method_facts::MethodFacts;
pub use method_policies::MethodPolicies;
pub use method_settings::MethodSettings;
pub use retry_throttling::RetryThrottling;
