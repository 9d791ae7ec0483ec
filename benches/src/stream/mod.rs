//! Streams of messages: a service in this process that has them, and who calls them.

mod canned;
mod contender;

pub use canned::CannedStream;
pub use contender::{RAW, Shape, StreamContender, generated, layered, layered_resuming, part, raw, resuming};
