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
//! | observe all operations | [`gax_driver::observe`] |
//! | reload settings at run time | [`gax_driver::live`] |
//! | resume a stream that broke | [`resumption`] |
//! | retry a closure | [`gax_driver::retry`], [`gax_driver::Retryer`] |
//! | retry HTTP requests | the crate `gax-http` |
//! | use a generated client over HTTP and JSON | the crate `gax-rest` |
//! | run operations over another transport | [`gax_driver::protocol`] |
//! | bound a server's own calls by its callers' deadlines | [`DeadlineLayer`] |
//!
//! The [page on features](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/features.md) lists what each feature adds.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod client;
mod generated_methods;
pub mod google;
pub mod grpc;
pub mod note;
pub mod resumption;
pub mod settings;
pub mod subscription;

pub use gax_driver::{CallOptions, Note, OperationError, OperationOptions, OperationReport};
pub use gax_retry::{
    Attempt, Code, CodeSet, Compatibility, Hedging, RetryBudget, RetrySettings, RetrySettingsBuilder,
    SettingsError, StartedAttempt, StopReason,
};
#[cfg(feature = "tables")]
pub use gax_table::{Dialect, RetryTable, TableError};
pub use grpc::{deadline::DeadlineLayer, resumed::StreamReport, status::CodeExt};
#[cfg(feature = "tables")]
pub use grpc::{layer::RetryLayer, service::RetryService};
pub use settings::{call_settings::CallSettings, method_info::MethodInfo, request_ext::RequestExt};

/// The service of a [`DeadlineLayer`]. What a handler hands to tasks and threads for the request that it serves is in
/// [`gax_driver::inbound`].
pub mod deadline {
    pub use crate::grpc::deadline::{DeadlineBody, DeadlineFuture, DeadlineService};
}

/// Long-running operations, of generated clients and over any other: polling until they are done.
///
/// The messages are those of `google.longrunning` and `google.rpc`. A generator that is configured with
/// `extern_path(".google.longrunning", "::tonic_gax::longrunning")` and
/// `extern_path(".google.rpc", "::tonic_gax::longrunning::rpc")` uses them instead of its own.
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
    /// `google.protobuf.Any`: a message of any type, such as the response of an operation. Use it to read or write
    /// [`Operation`]s. It is `prost_types::Any`, so a program doesn't need a dependency on `prost-types`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tonic_gax::longrunning::{Any, Operation, operation};
    ///
    /// let response = Any::from_msg(&41_i64)?;
    /// assert_eq!(response.to_msg::<i64>()?, 41);
    /// let result = Some(operation::Result::Response(response));
    /// let done = Operation { name: "operations/7".to_owned(), done: true, result, ..Operation::default() };
    /// # drop(done);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub use prost_types::Any;
}

/// The types that retry tables are made of, which [`RetryTable`] hands out.
#[cfg(feature = "tables")]
pub mod table {
    pub use gax_table::{
        Finding, HedgingPolicy, MethodPolicy, ParseDialectError, ParseTableFormatError, RetryTableBuilder,
        RetryThrottling, Severity, SourceLocation, TableFormat, TableReader,
    };
}

/// For generated code alone: it changes with the generator, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::client::connect::connect_for as connect;
    pub use crate::client::core::Client;
    pub use crate::client::paging::unary::{PagedMethod, paged};
    pub use crate::google::method_annotations::MethodAnnotations;
    pub use crate::google::request_id::fill_request_id;
    pub use crate::google::request_param::RequestParam;
    pub use crate::google::service_info::ServiceInfo;
    pub use crate::settings::client_config::ClientConfig;
    pub use crate::settings::client_settings::{GoogleStub, ServiceStub, config_of};
    pub use crate::settings::method_info::{MethodParts, message_types, method_info};
    pub use crate::settings::stub_settings::StubSettings;
    pub use gax_retry::settings::ConstSettings;
}
