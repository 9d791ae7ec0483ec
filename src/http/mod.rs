//! Operations over HTTP, for any client that is a tower service.

mod client;
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
mod response_future;
#[cfg(any(feature = "rest", feature = "transfer"))]
pub(crate) mod segments;
mod service;
mod shared_state;
#[cfg(feature = "serde")]
mod stored;
#[cfg(feature = "transfer")]
pub(crate) mod transfer;

pub use failure::HttpError;
#[cfg(feature = "rest")]
pub(crate) use failure::{Part, classify};
pub use gax_retry::http::{
    Classification, HostPattern, HttpFailure, Idempotency, IdempotencyRule, IdempotencyStrategy,
    IdempotencyTable, OperationClass, PathPattern, Precondition, Preset, StatusSet, TransportFailure,
    TransportFailures, presets,
};
pub use http_service::HttpService;
pub use layer::HttpRetryLayer;
pub use options::HttpCallOptions;
pub use protocol::HTTP;
pub use report::HttpReport;
pub use request::{IntoReplay, Replay, ReplayBody};
#[cfg(feature = "reqwest")]
pub use reqwest::{ReqwestRequestBuilder, ReqwestService};
pub use response::HttpResponseBody;
pub use response_future::HttpResponseFuture;
pub use service::HttpRetryService;
