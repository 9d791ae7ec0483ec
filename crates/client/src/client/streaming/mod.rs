//! Calls with a stream on either side.

mod call;
mod prost_stream;
mod response_stream;

pub use call::StreamingCall;
pub(super) use call::Timed;
pub(super) use prost_stream::ProstStream;
pub use response_stream::ResponseStream;
