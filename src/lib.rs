#![doc = include_str!("../README.md")]

pub mod client;
mod closure;
mod grpc;
mod operation;
mod settings;

pub use closure::{ErrorCode, Retried, RetryError, Retryable, Retryer, retry, retry_blocking};
pub use gax_retry::{
    Attempt, AttemptPlan, Code, CodeSet, Compatibility, Dialect, MethodKind, NotAttempted, RetrySettings,
    RetrySettingsBuilder, RetryTable, RetryTableBuilder, SettingsError, Started, StopReason, TableError,
};
pub use grpc::{
    DeadlineFuture, DeadlineLayer, DeadlineService, DescriptorError, ResponseBody, ResponseFuture,
    RetryLayer, RetryService,
};
pub use operation::{Note, OperationError, OperationReport};
pub use settings::{CallOptions, CallSettings, MethodInfo, RequestExt};

/// What generated code uses and nobody else should: it changes with the generator, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::client::{Client, connect};
    pub use crate::settings::{ClientSettings, MethodInfo, StubSettings};
    pub use gax_retry::__private::retry_settings;
}
