#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod config;
mod failure;
mod http_service;
mod layer;
pub mod note;
mod options;
mod protocol;
mod report;
mod request;
#[cfg(feature = "reqwest")]
mod reqwest;
mod response;
mod segments;
mod service;
mod shared_state;
#[cfg(feature = "serde")]
mod stored;

pub use crate::failure::HttpError;
pub use crate::http_service::HttpService;
pub use crate::layer::HttpRetryLayer;
pub use crate::options::HttpCallOptions;
pub use crate::protocol::HTTP;
pub use crate::report::HttpReport;
pub use crate::request::{IntoReplay, Replay, ReplayBody};
#[cfg(feature = "reqwest")]
pub use crate::reqwest::{ReqwestRequestBuilder, ReqwestService};
pub use crate::response::HttpResponseBody;
pub use crate::service::{HttpResponseFuture, HttpRetryService};
pub use gax_driver::{CallOptions, LivePolicies, OperationOptions, OperationReport};
pub use gax_retry::http::{
    Classification, HostPattern, HttpFailure, Idempotency, IdempotencyRule, IdempotencyStrategy,
    IdempotencyTable, OperationClass, PathPattern, Precondition, Preset, StatusSet, TransportFailure,
    TransportFailures, presets,
};
pub use gax_retry::{
    Code, CodeSet, Compatibility, Hedging, RetryBudget, RetrySettings, SettingsError, StartedAttempt,
    StopReason,
};

/// For the crates of this repository alone: it changes with them, without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::config::HttpConfig;
    pub use crate::failure::{Broken, Part, classify, without_url};
    pub use crate::protocol::{AttemptOutcome, Head, HttpAttempt, HttpProtocol, server_delay};
    pub use crate::request::CutOff;
    pub use crate::response::{EndedEarly, OpenBody};
    pub use crate::segments::has_dots;
    pub use crate::service::layered_client;
    pub use crate::shared_state::LayeredClient;
}
