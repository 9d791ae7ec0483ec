//! The endpoints of a connection, and which of them a call goes to.

mod ejection_time;
mod endpoint_result;
mod endpoints;
mod health_check;
mod keeper;
#[expect(clippy::module_inception, reason = "the pool itself, beside its endpoints")]
mod pool;
mod shared_pool;
mod waiting_calls;

pub(super) use endpoint_result::{EndpointResult, grpc_status};
pub(super) use pool::{Pick, Pool};
pub(super) use shared_pool::SharedPool;
pub(super) use waiting_calls::{CallTerms, Place, Placement};
