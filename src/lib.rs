//! Retries for gRPC clients built with tonic, with settings for every RPC.
//!
//! A call is an *operation* of one or more *attempts*, which share one total timeout. [`MethodPolicies`] have the retryable codes, delays and
//! timeouts of each method: from code, or from a retry table of the crate `gax-table`. See the [guide](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/SUMMARY.md), also
//! [as a book](https://tonic-gax.github.io/tonic-gax/). This page lists the main types.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # let _context = runtime.enter();
//! # let channel = tonic::transport::Endpoint::from_static("http://[::1]:50051").connect_lazy();
//! use std::time::Duration;
//! use tonic_gax::{Code, RetryLayer, RetrySettings};
//!
//! let settings = RetrySettings::builder().total_timeout(Duration::from_secs(10)).build()?;
//! let channel = RetryLayer::new((settings, [Code::Unavailable])).layer(channel);
//! // LibraryServiceClient::new(channel): the client that tonic generates, with retries
//! # drop(channel);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | add retries to an existing client | [`RetryLayer`] with [`RetrySettings`], [`MethodPolicies`], or a table of the crate `gax-table` |
//! | generate a client that retries | the crates `tonic-gax-build` and `gax-client` |
//! | change the settings of a single call | [`CallOptions`], with [`RequestExt`] |
//! | see the attempts of a call, and why it ended | [`OperationReport`], [`OperationError`], [`StopReason`] |
//! | observe all operations | [`gax_driver::observe`] |
//! | replace settings at run time | [`LivePolicies`], for tables the crate `gax-table` |
//! | resume a stream that broke | the crate `gax-streams` |
//! | retry a closure | `gax_driver::retry`, `gax_driver::Retryer` |
//! | retry HTTP requests | the crate `gax-http` |
//! | use a generated client over HTTP and JSON | the crate `gax-rest` |
//! | run operations over another transport | [`gax_driver::protocol`] |
//! | bound a server's own calls by its callers' deadlines | [`DeadlineLayer`] |
//!
//! The [page on features](https://github.com/tonic-gax/tonic-gax/blob/main/docs/src/reference/features.md) lists what each feature adds.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod grpc;
pub mod headers;
pub mod note;
mod request_ext;

pub use gax_driver::{
    CallOptions, LivePolicies, Note, OperationError, OperationOptions, OperationReport, ReplayOptions,
};
pub use gax_retry::{
    Attempt, Code, CodeSet, Compatibility, Hedging, MethodFacts, MethodPolicies, MethodSettings, RetryBudget,
    RetrySettings, RetrySettingsBuilder, SettingsError, StartedAttempt, StopReason,
};
pub use grpc::take_over;
pub use grpc::transport::GrpcTransport;
pub use grpc::{deadline::DeadlineLayer, layer::RetryLayer, service::RetryService, status::CodeExt};
pub use request_ext::RequestExt;

/// The types that settings are made of, besides those at the root.
pub mod settings {
    pub use gax_driver::RetryBudgets;
    pub use gax_retry::environment::EnvironmentError;
    pub use gax_retry::settings::{Override, RetryDelays, SettingsOverrides, SettingsProblem};
    pub use gax_retry::{Environment, IntoCodes, MethodKind, ParseCodeError, Policy, RetryThrottling};
}

/// The service of a [`DeadlineLayer`]. What a handler hands to tasks and threads for the request that it serves is in
/// [`gax_driver::inbound`].
pub mod deadline {
    pub use crate::grpc::deadline::{DeadlineBody, DeadlineFuture, DeadlineService};
}

/// For the crates of this repository alone: it changes with them, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::grpc::call::Call;
    pub use crate::grpc::methods::{MethodConfig, MethodMatch, SharedState};
    pub use crate::grpc::protocol::{AttemptParts, Failing, GrpcProtocol, end_status};
    pub use crate::grpc::request::{CapturedRequest, ReplayableRequest, one_frame, shrink, too_large};
    pub use crate::grpc::response::{ReadExtent, Remainder, ResponseBody, hand_over, pass_on};
    pub use crate::grpc::status::received::{self, value as header};
    pub use crate::grpc::status::{Failure, not_sent};
    pub use crate::grpc::take_over::{BoxService, TakenBy};
    pub use crate::grpc::template::timeout::{GRPC_TIMEOUT, from_headers as timeout_in};
    pub use crate::grpc::template::{
        AttemptTimeout, ExampleRequest, ExtraHeaders, LIKE_EXAMPLE, PREVIOUS_ATTEMPTS, Template,
    };
    pub use crate::grpc::transport::{OwnService, ServiceHandle};
}
