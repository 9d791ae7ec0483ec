//! Calls with a stream on either side.

mod call;
mod prost_stream;

pub(super) use call::Timed;
pub use call::{ResponseStream, StreamingCall};
pub(super) use prost_stream::ProstStream;
