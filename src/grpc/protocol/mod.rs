//! Attempts over a gRPC service.

mod attempt;
mod failed;
mod grpc_protocol;

pub(crate) use failed::{AttemptParts, Failing, end_status, failed_call, time_is_up};
pub use grpc_protocol::GRPC;
pub(crate) use grpc_protocol::GrpcProtocol;
