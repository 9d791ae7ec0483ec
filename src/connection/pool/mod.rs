//! The endpoints of a connection, and which of them a call goes to.

mod endpoint_result;
mod endpoints;
#[expect(clippy::module_inception, reason = "the pool itself, beside its endpoints")]
mod pool;

pub(super) use endpoint_result::{EndpointResult, grpc_status};
pub(super) use pool::{Pick, Pool, Shared};
