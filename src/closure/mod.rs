//! Operations of anything that can be tried again: an async closure, or a blocking one.

mod error;
mod protocol;
mod retry;
mod retryable;
mod retryer;
#[cfg(test)]
mod tests;

pub use error::RetryError;
pub use retry::{retry, retry_blocking};
pub use retryable::{ErrorCode, Retryable};
pub use retryer::{Retried, Retryer};
