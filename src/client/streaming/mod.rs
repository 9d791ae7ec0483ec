//! Calls with a stream on either side.

mod call;
mod idle_timeout;
mod prost_stream;
mod response_stream;

pub(super) use call::Timed;
pub use call::{MessageCall, StreamingCall};
#[cfg(feature = "subscription")]
pub(crate) use idle_timeout::IdleTimeout;
pub(super) use prost_stream::ProstStream;
pub use response_stream::ResponseStream;
