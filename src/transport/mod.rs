//! Services and connections, as far as both transports share them.

mod chain;
#[cfg(feature = "rest")]
mod classified_error;
#[cfg(any(feature = "http", feature = "tables"))]
mod clone_service;
mod connect_problem;
pub(crate) mod dead_peers;
pub(crate) mod grpc_timeout;
mod h2_cause;
mod reach;
mod retry_after;
#[cfg(any(feature = "http", feature = "tables"))]
mod shared_service;

#[cfg(feature = "http")]
pub(crate) use chain::BoxError;
pub(crate) use chain::chain;
#[cfg(feature = "rest")]
pub(crate) use classified_error::{ClassifiedError, Finality};
#[cfg(any(feature = "http", feature = "tables"))]
pub use clone_service::CloneService;
pub use connect_problem::ConnectProblem;
pub(crate) use connect_problem::NoTls;
pub(crate) use h2_cause::H2Cause;
pub(crate) use reach::Reach;
pub(crate) use retry_after::retry_after_in;
#[cfg(any(feature = "http", feature = "tables"))]
pub(crate) use shared_service::SharedService;
