//! Attempts over a gRPC service.

mod attempt;
mod failed;
mod grpc_protocol;

pub(crate) use attempt::GrpcAttempt;
pub(crate) use failed::time_is_up;
pub(crate) use failed::{Failing, end_status, failed_call};
pub use grpc_protocol::GRPC;
pub(crate) use grpc_protocol::GrpcProtocol;
