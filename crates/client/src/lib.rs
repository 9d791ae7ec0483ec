#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
mod generated_methods;
pub mod google;
mod settings;

pub use client::{
    Connector, ConnectorIo, ResponseStream, StreamingCall, UnaryCall, connect, connect_lazy, paging,
};
pub use gax_retry::{
    Code, CodeSet, Compatibility, Hedging, MethodKind, RetryBudget, RetrySettings, SettingsError,
};
pub use gax_wire::CloneService;
pub use settings::{CallSettings, ClientSettings, MethodInfo, OperationCallSettings};
pub use tonic_gax::GrpcTransport;

/// Long-running operations, of generated clients and over any other: polling until they are done.
///
/// The messages are those of `google.longrunning` and `google.rpc`. A generator that is configured with
/// `extern_path(".google.longrunning", "::gax_client::longrunning")` and
/// `extern_path(".google.rpc", "::gax_client::longrunning::rpc")` uses them instead of its own.
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
    /// use gax_client::longrunning::{Any, Operation, operation};
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

/// For generated code alone: it changes with the generator, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::client::connect::connect_for as connect;
    pub use crate::client::core::Client;
    pub use crate::client::paging::unary::{PagedMethod, paged};
    pub use crate::google::method_headers::MethodAnnotations;
    pub use crate::google::request_id::fill_request_id;
    pub use crate::google::request_param::RequestParam;
    pub use crate::google::service_endpoint::ServiceInfo;
    pub use crate::settings::client_config::ClientConfig;
    pub use crate::settings::client_settings::{GoogleStub, ServiceStub, config_of};
    pub use crate::settings::method_info::{MethodParts, message_types, method_info};
    pub use crate::settings::stub_settings::StubSettings;
    pub use gax_retry::settings::ConstSettings;
    pub use gax_retry::{BatchingSettings, LimitExceeded};
}
