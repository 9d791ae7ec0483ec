//! Streams of messages: a service in this process that has them, and who calls them.

mod canned;
mod contender;
mod shape;

pub use canned::CannedStream;
pub use contender::{RAW, StreamContender, generated, layered, layered_resuming, raw, resuming};
pub use shape::{Shape, part};
