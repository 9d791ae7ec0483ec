//! The settings of many methods, as plain data.

#[cfg(feature = "http")]
mod http_policies;
mod method_policies;
mod method_settings;

#[cfg(feature = "http")]
pub use http_policies::{HttpPolicies, HttpSettings};
pub use method_policies::{MethodFacts, MethodPolicies, RetryThrottling};
pub use method_settings::MethodSettings;
