//! Operations of anything that can be tried again: an async closure, or a blocking one.

mod config_source;
pub(crate) mod error;
mod live_service;
mod protocol;
mod retried;
pub(crate) mod retry;
mod retryable;
pub(crate) mod retryer;
#[cfg(test)]
mod tests;

pub use retried::Retried;
pub use retryable::{AboveOwnLimit, ErrorCode, Retryable};
