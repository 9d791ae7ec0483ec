//! The options of operations: of all, and of one call.

mod call_options;
mod method_configs;
mod operation_config;
mod operation_options;
mod policy_entries;
mod retry_budgets;
#[cfg(feature = "serde")]
mod stored_options;
pub mod unused_names;

pub use call_options::CallOptions;
pub use method_configs::MethodConfigs;
pub use operation_config::OperationConfig;
pub use operation_options::OperationOptions;
pub use policy_entries::PolicyEntries;
pub use retry_budgets::RetryBudgets;
#[cfg(feature = "serde")]
pub use stored_options::{read_override, write_override};
