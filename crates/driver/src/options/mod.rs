//! The options of operations: of all, and of one call.

mod call_options;
mod operation_config;
mod operation_options;
mod retry_budgets;
#[cfg(feature = "serde")]
mod stored_options;
#[cfg(feature = "tables")]
mod table_configs;
#[cfg(feature = "tables")]
mod table_entries;
#[cfg(feature = "serde")]
mod two_words;

pub use call_options::CallOptions;
pub use operation_config::OperationConfig;
pub use operation_options::OperationOptions;
pub use retry_budgets::RetryBudgets;
#[cfg(feature = "tables")]
pub use table_configs::TableConfigs;
#[cfg(feature = "tables")]
pub use table_entries::TableEntries;
#[cfg(feature = "serde")]
pub use two_words::{read_override, write_override};
