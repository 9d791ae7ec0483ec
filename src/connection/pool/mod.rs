//! The endpoints of a connection, and which of them a call goes to.

mod endpoints;
#[expect(clippy::module_inception, reason = "the pool itself, beside its endpoints")]
mod pool;

pub(super) use pool::{Handle, Pick, Pool};
