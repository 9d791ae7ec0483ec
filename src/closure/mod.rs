//! Operations of anything that can be tried again: an async closure, or a blocking one.

mod error;
mod protocol;
mod retryable;
mod retryer;
#[cfg(test)]
mod tests;

pub use error::RetryError;
pub use retryable::{ErrorCode, Retryable};
pub use retryer::{Retried, Retryer, retry, retry_blocking};
