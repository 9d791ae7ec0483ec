//! Operations of anything that can be tried again: an async closure, or a blocking one.

mod config_source;
pub(crate) mod error;
mod live_service;
mod protocol;
pub(crate) mod retry;
mod retry_outcome;
mod retryable;
pub(crate) mod retryer;
#[cfg(test)]
mod tests;

pub use retry_outcome::RetryOutcome;
pub use retryable::{AboveOwnLimit, ErrorCode, Retryable};
