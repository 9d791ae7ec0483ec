#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;
pub mod client;
mod closure;
mod grpc;
#[cfg(feature = "http")]
mod http;
pub mod live;
pub mod observe;
mod operation;
mod panics;
mod settings;
#[cfg(feature = "testing")]
pub mod testing;
mod transport;
mod without_drop;

pub use closure::{ErrorCode, Retried, RetryError, Retryable, Retryer, retry, retry_blocking};
pub use gax_retry::environment::EnvironmentError;
#[cfg(feature = "http")]
pub use gax_retry::http::{
    Classification, HttpFailure, Idempotency, IdempotencyRule, IdempotencyStrategy, IdempotencyTable,
    OperationClass, PathPattern, Precondition, Preset, StatusSet, TransportFailure, TransportFailures,
    presets,
};
pub use gax_retry::settings::{Override, RetryDelays, SettingsOverrides, SettingsProblem};
#[cfg(feature = "strategy")]
pub use gax_retry::strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
pub use gax_retry::{
    Attempt, AttemptKind, BatchingSettings, Code, CodeSet, Compatibility, Delivery, Environment, Hedging,
    IntoCodes, LimitExceeded, MethodKind, NotAttempted, ParseCodeError, Policy, RetryBudget, RetryBudgets,
    RetrySettings, RetrySettingsBuilder, SettingsError, StartedAttempt, StopReason,
};
#[cfg(feature = "tables")]
pub use gax_table::{Dialect, RetryTable, RetryTableBuilder, TableError};
pub use grpc::{CodeExt, DeadlineBody, DeadlineFuture, DeadlineLayer, DeadlineService, ResponseBody};
#[cfg(feature = "tables")]
pub use grpc::{DescriptorError, ResponseFuture, RetryLayer, RetryService};
#[cfg(feature = "http")]
pub use http::{
    HttpCallOptions, HttpError, HttpReport, HttpResponseBody, HttpResponseExt, HttpResponseFuture,
    HttpRetryLayer, HttpRetryService, IntoReplay, Replay, ReplayBody,
};
#[cfg(feature = "reqwest")]
pub use http::{ReqwestRequestBuilder, ReqwestService};
pub use live::unknown_methods::UnknownMethodsError;
pub use operation::{ConnectProblem, Note, OperationError, OperationReport};
pub use settings::{
    CallOptions, CallSettings, MethodInfo, OperationCallSettings, OperationOptions, RequestExt,
};

/// A server's side of deadlines: what a handler hands to tasks and threads for the request that it serves.
///
/// The layer that makes requests known is [`DeadlineLayer`].
pub mod deadline {
    pub use crate::operation::{Inbound, RequestEnded, Scope};
}

/// The types that retry tables are made of, which [`RetryTable`] hands out.
#[cfg(feature = "tables")]
pub mod table {
    pub use gax_table::{
        Finding, HedgingPolicy, MethodPolicy, ParseDialectError, ParseTableFormatError, RetryThrottling,
        Severity, SourceLocation, TableFormat, TableReader,
    };
}

/// For generated code alone: it changes with the generator, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::client::{Client, connect_for as connect};
    pub use crate::settings::{ClientSettings, MethodInfo, StubSettings};
    pub use gax_retry::settings::ConstSettings;

    /// A report's table, for programs that print it in colours.
    pub fn attempt_table(report: &crate::OperationReport) -> gax_retry::report::AttemptTable {
        report.table()
    }
}
