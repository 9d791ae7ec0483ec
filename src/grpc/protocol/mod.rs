//! Attempts over a gRPC service.

mod attempt;
mod failed;
mod grpc_protocol;

pub(crate) use failed::failed_call;
pub use failed::{AttemptParts, Failing, end_status};
pub use grpc_protocol::{GRPC, GrpcProtocol};
