//! Services and connections, as far as both transports share them.

mod chain;
mod classified_error;
mod clone_service;
mod connect_problem;
#[cfg(feature = "connector")]
pub mod dead_peers;
pub mod grpc_timeout;
mod h2_cause;
#[cfg(feature = "tower")]
mod layer_error;
mod reach;
mod retry_after;
mod shared_service;
#[cfg(feature = "rustls")]
mod tls_problem;

pub use chain::{BoxError, NotConnected, chain, text_of};
pub use classified_error::{ClassifiedError, Finality};
pub use clone_service::CloneService;
pub use connect_problem::{ConnectProblem, KnownProblem, explain};
pub use h2_cause::{H2Cause, cancel};
#[cfg(feature = "tower")]
pub use layer_error::LayerError;
pub use reach::Reach;
pub use retry_after::retry_after_in;
pub use shared_service::SharedService;
