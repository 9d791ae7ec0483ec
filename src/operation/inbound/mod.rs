//! The request that a server's handler serves, as the work that is done for it knows it.

mod ended;
mod handle;
mod scope;
mod serving;

pub use ended::Ended;
pub use handle::Inbound;
pub(crate) use handle::{inbound_deadline, is_nested_retry, time_left};
pub use scope::Scope;
pub(crate) use serving::Serving;
