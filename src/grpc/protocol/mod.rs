//! Attempts over a gRPC service.

mod attempt;
mod failed;
mod grpc_protocol;
mod peers;

pub(crate) use attempt::GrpcAttempt;
pub(crate) use failed::EndsWithStatus;
pub(crate) use grpc_protocol::GrpcProtocol;
