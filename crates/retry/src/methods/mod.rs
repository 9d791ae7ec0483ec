//! The settings of many methods, as plain data.

mod method_facts;
mod method_policies;
mod method_settings;
mod retry_throttling;

pub use method_facts::MethodFacts;
pub use method_policies::MethodPolicies;
pub use method_settings::MethodSettings;
pub use retry_throttling::RetryThrottling;
