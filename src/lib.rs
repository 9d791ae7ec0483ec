//! Per-RPC retry settings for Rust gRPC clients.

pub mod client;
mod grpc;
mod operation;
mod settings;

pub use gax_retry::{
    Attempt, AttemptPlan, Code, CodeSet, Compatibility, Dialect, MethodKind, RetrySettings,
    RetrySettingsBuilder, RetryTable, RetryTableBuilder, SettingsError, StopReason, TableError,
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
