//! Budgets: how many retries the operations of a program may make together. Lock-free, and no clock of their own.

#[cfg(all(test, loom))]
mod loom_tests;
mod retry_budget;
mod tokens;
mod window;
mod word;

#[cfg(feature = "serde")]
pub(crate) use retry_budget::BudgetLimits;
pub use retry_budget::RetryBudget;
