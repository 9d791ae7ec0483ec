//! Observers: what a program is told of its operations while they run.
//!
//! An [`OperationObserver`] is installed on a [`RetryLayer`](crate::RetryLayer), on a generated client's settings, on an
//! `HttpRetryLayer` or on a [`Retryer`](crate::Retryer), and hears of gRPC, HTTP and closures alike.

pub use crate::operation::{
    ObservedTransport as Transport, OperationInfo, OperationObserver, OperationSummary, OutgoingHeaders,
    Retry,
};
pub use gax_retry::{AttemptKind, ServerDelay};
