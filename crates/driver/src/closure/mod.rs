//! Operations of anything that can be tried again: an async closure, or a blocking one.

mod config_source;
mod error;
#[cfg(feature = "tables")]
mod live_service;
mod protocol;
mod retried;
mod retry;
mod retryable;
mod retryer;
#[cfg(test)]
mod tests;

pub use error::RetryError;
pub use retried::Retried;
pub use retry::{retry, retry_blocking};
pub use retryable::{ErrorCode, Retryable};
pub use retryer::Retryer;
