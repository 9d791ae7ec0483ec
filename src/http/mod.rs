//! Operations over HTTP, for any client that is a tower service.

mod body;
mod cause;
mod connections;
mod error;
mod failure;
mod incoming;
mod layer;
mod open_body;
mod outgoing;
mod plan;
mod protocol;
mod replay;
mod report;
#[cfg(feature = "reqwest")]
mod reqwest;
mod response_future;
mod retry_after;
mod service;

pub use body::HttpResponseBody;
pub use error::HttpError;
pub use layer::HttpRetryLayer;
pub use replay::{Replay, ReplayBody};
pub use report::HttpReport;
#[cfg(feature = "reqwest")]
pub use reqwest::ReqwestService;
pub use response_future::HttpResponseFuture;
pub use service::HttpRetryService;

/// Any error.
type BoxError = Box<dyn std::error::Error + Send + Sync>;
