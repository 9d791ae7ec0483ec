//! Retries for gRPC clients built with tonic, with settings for every RPC.
//!
//! A call is an *operation* of one or more *attempts*, which share one total timeout. A *retry table* has the retryable codes, delays and
//! timeouts of each method. See the [guide](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/SUMMARY.md), also
//! [as a book](https://tonic-gax.github.io/tonic-gax/). This page lists the main types.
//!
//! ```
//! # #[cfg(feature = "tables")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # let _context = runtime.enter();
//! # let channel = tonic::transport::Endpoint::from_static("http://[::1]:50051").connect_lazy();
//! use std::time::Duration;
//! use tonic_gax::{Code, RetryLayer, RetrySettings, RetryTable};
//!
//! let settings = RetrySettings::builder().total_timeout(Duration::from_secs(10)).build()?;
//! let table = RetryTable::builder().service("library.v1.LibraryService", settings, [Code::Unavailable]).build()?;
//! let channel = RetryLayer::new(table).layer(channel);
//! // LibraryServiceClient::new(channel): the client that tonic generates, with retries
//! # drop(channel);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "tables"))]
//! # fn main() {}
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | add retries to an existing client | [`RetryLayer`] and a [`RetryTable`], from a file or in code |
//! | generate a client that retries | the crate `tonic-gax-build`; settings: [`CallSettings`], [`client`] |
//! | change the settings of a single call | [`CallOptions`], with [`RequestExt`] |
//! | see the attempts of a call, and why it ended | [`OperationReport`], [`OperationError`], [`StopReason`] |
//! | observe all operations | [`observe`] |
//! | reload settings at run time | [`live`] |
//! | resume a stream that broke | [`resumption`] |
//! | retry a closure | [`retry`], [`Retryer`] |
//! | retry HTTP requests | `HttpRetryLayer` (feature `http`) |
//! | run operations over another transport | `protocol` (feature `protocol-preview`) |
//! | bound a server's own calls by its callers' deadlines | [`DeadlineLayer`] |
//!
//! The [page on features](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/features.md) lists what each feature adds.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "protocol-preview"),
    allow(unreachable_pub, reason = "a feature makes the protocol public")
)]

#[cfg(feature = "batching")]
pub mod batching;
mod body;
pub mod client;
pub mod closure;
#[cfg(feature = "connection")]
pub mod connection;
pub mod credentials;
mod generated_methods;
pub mod google;
pub mod grpc;
#[cfg(feature = "http")]
pub mod http;
pub mod live;
pub mod note;
pub mod observe;
mod operation;
mod panics;
#[cfg(feature = "rest")]
pub mod rest;
pub mod resumption;
pub mod settings;
#[cfg(feature = "subscription")]
pub mod subscription;
#[cfg(feature = "testing")]
pub mod testing;
mod transport;
mod without_drop;

pub use closure::{RetryError, Retryer, retry, retry_blocking};
pub use gax_retry::{
    Attempt, Code, CodeSet, Compatibility, Hedging, RetryBudget, RetrySettings, RetrySettingsBuilder,
    SettingsError, StartedAttempt, StopReason,
};
#[cfg(feature = "tables")]
pub use gax_table::{Dialect, RetryTable, TableError};
pub use grpc::{CodeExt, DeadlineLayer};
#[cfg(feature = "tables")]
pub use grpc::{RetryLayer, RetryService};
#[cfg(feature = "http")]
pub use http::HttpRetryLayer;
pub use operation::{Note, OperationError, OperationReport};
pub use settings::{CallOptions, CallSettings, MethodInfo, OperationOptions, RequestExt};

/// The parts of a report, besides the [`OperationReport`] and its [`Attempt`]s.
pub mod report {
    pub use crate::grpc::StreamReport;
    pub use crate::operation::{AttemptDelay, DelayType};
    pub use crate::transport::ConnectProblem;
    pub use gax_retry::{AttemptKind, Delivery, NotAttempted};
}

/// Operations over a transport of one's own: what a [`Protocol`](protocol::Protocol) has to do, and the driver that runs it.
///
/// A preview: it may change in any release while it has the feature `protocol-preview`. The guide has a [whole
/// one](https://tonic-gax.github.io/tonic-gax/closures.html#another-transport).
#[cfg(feature = "protocol-preview")]
pub mod protocol {
    pub use crate::operation::{
        AttemptContext, Driver, Name, Output, Protocol, Start, Step, Unsendable, Verdict,
    };
    pub use crate::settings::OperationConfig;
    pub use gax_retry::Policy;
    pub use gax_retry::operation::{
        AttemptResult, CommitPoint, Repetition, Replayable, Resend, RetryFact, Seen, Stop,
    };
}

/// The back-off of other tools and libraries, for closures and HTTP requests.
#[cfg(feature = "strategy")]
pub mod strategy {
    pub use gax_retry::strategy::{AttemptTimeouts, Backoff, BackoffStrategy, Cap, Jitter, Limits, TimeRule};
}

/// A server's side of deadlines: what a handler hands to tasks and threads for the request that it serves.
///
/// The layer that makes requests known is [`DeadlineLayer`].
pub mod deadline {
    pub use crate::grpc::{DeadlineBody, DeadlineFuture, DeadlineService};
    pub use crate::operation::{Inbound, RequestEnded, Scope};
}

/// Long-running operations, of generated clients and over any other: polling until they are done.
///
/// The messages are those of `google.longrunning` and `google.rpc`. A generator that is configured with
/// `extern_path(".google.longrunning", "::tonic_gax::longrunning")` and `extern_path(".google.rpc",
/// "::tonic_gax::longrunning::rpc")` uses them in place of its own.
#[cfg(feature = "longrunning")]
pub mod longrunning {
    pub use crate::client::lro::google::longrunning::{
        CancelOperationRequest, DeleteOperationRequest, GetOperationRequest, ListOperationsRequest,
        ListOperationsResponse, Operation, OperationInfo, OperationsClient, OperationsSettings,
        OperationsStubSettings, OperationsStubSettingsBuilder, WaitOperationRequest, operation,
    };
    pub use crate::client::lro::google::rpc;
    pub use crate::client::lro::{
        LONG_RUNNING, LongRunning, LongRunningEnd, LongRunningError, PollingSettings, Progress, poll,
    };
    /// `google.protobuf.Any`: a message of any type, such as the response of an operation.
    pub use prost_types::Any;
}

/// Transfers that resume, over a client with the [HTTP layer](HttpRetryLayer): uploads by Cloud Storage's protocol and by Google's
/// universal one, and downloads by ranges.
///
/// A transfer is one operation, whose requests are its attempts. See [the
/// guide](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/transfers.md).
#[cfg(feature = "transfer")]
pub mod transfer {
    pub use crate::http::transfer::{
        Checksums, Download, Downloaded, STATE_FILE_IGNORED, TransferError, TransferErrorKind,
        TransferProgress, TransferService, UnsafeName, Upload, UploadSession, UploadSource, Uploaded,
        path_within,
    };
}

/// The types that retry tables are made of, which [`RetryTable`] hands out.
#[cfg(feature = "tables")]
pub mod table {
    pub use gax_table::{
        Finding, HedgingPolicy, MethodPolicy, ParseDialectError, ParseTableFormatError, RetryTableBuilder,
        RetryThrottling, Severity, SourceLocation, TableFormat, TableReader,
    };
    #[cfg(feature = "http")]
    pub use gax_table::{HttpPolicy, HttpRule, HttpTable};
}

/// For generated code alone: it is compiled where the feature `batching` is on.
#[cfg(feature = "batching")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_batching {
    ($($code:tt)*) => {
        $($code)*
    };
}

/// For generated code alone: it is compiled where the feature `batching` is on.
#[cfg(not(feature = "batching"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_batching {
    ($($code:tt)*) => {};
}

/// For generated code alone: it changes with the generator, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::client::paging::{PagedMethod, paged};
    pub use crate::client::{Client, connect_for as connect};
    pub use crate::google::{MethodAnnotations, RequestParam, ServiceInfo, fill_request_id};
    #[cfg(feature = "rest")]
    pub use crate::rest::RestService;
    pub use crate::settings::{
        ClientConfig, ClientSettings, GoogleStub, MethodInfo, ServiceStub, StubSettings,
    };
    pub use gax_retry::settings::ConstSettings;

    /// A report's table, for programs that print it in colours.
    pub fn attempt_table(report: &crate::OperationReport) -> gax_retry::report::AttemptTable {
        report.table()
    }
}
