//! The request that a server's handler serves, as the work that is done for it knows it.

mod handle;
mod scope;

pub(super) use handle::entered;
pub use handle::{Inbound, Serving, inbound_deadline, is_nested_retry, time_left};
pub use scope::{RequestEnded, Scope};
