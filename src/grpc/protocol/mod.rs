//! Attempts over a gRPC service.
#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "for the crates of this repository alone"
)]

mod attempt;
mod failed;
mod grpc_protocol;

pub(crate) use failed::failed_call;
pub use failed::{AttemptParts, Failing, end_status};
pub use grpc_protocol::{GRPC, GrpcProtocol};
