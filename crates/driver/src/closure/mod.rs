//! Operations of anything that can be tried again: an async closure, or a blocking one.

pub(crate) mod error;
mod live_service;
mod protocol;
pub(crate) mod retry;
mod retryable;
pub(crate) mod retryer;
#[cfg(test)]
mod tests;

pub use retryable::{AboveOwnLimit, ErrorCode, Retryable};
pub use retryer::RetryOutcome;
