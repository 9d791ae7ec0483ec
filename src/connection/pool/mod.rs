//! The endpoints of a connection, and which of them a call goes to.

mod endpoints;
#[expect(clippy::module_inception, reason = "the pool itself, beside its endpoints")]
mod pool;
mod verdict;

pub(super) use pool::{Pick, Pool, Shared};
pub(super) use verdict::{Verdict, grpc_status};
