//! Operations over HTTP, for any client that is a tower service.

mod body;
mod cause;
mod connections;
mod course;
mod engine;
mod error;
mod failure;
mod incoming;
mod layer;
mod open_body;
mod outgoing;
mod policy;
mod replay;
mod report;
#[cfg(feature = "reqwest")]
mod reqwest;
mod service;

pub use body::HttpResponseBody;
pub use engine::HttpResponseFuture;
pub use error::HttpError;
pub use layer::HttpRetryLayer;
pub use replay::{Replay, ReplayBody};
pub use report::HttpReport;
#[cfg(feature = "reqwest")]
pub use reqwest::ReqwestService;
pub use service::HttpRetryService;

/// Any error.
type BoxError = Box<dyn std::error::Error + Send + Sync>;
