//! The request that a server's handler serves, as the work that is done for it knows it.

mod handle;
mod request_ended;
mod scope;
mod serving;

pub use handle::Inbound;
pub(super) use handle::entered;
pub use handle::{inbound_deadline, is_nested_retry, time_left};
pub use request_ended::RequestEnded;
pub use scope::Scope;
pub use serving::Serving;
