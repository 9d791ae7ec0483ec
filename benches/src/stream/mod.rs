//! Streams of messages: a service in this process that has them, a server, and who calls them.

mod canned;
mod contender;
mod server;
mod shape;

pub use canned::CannedStream;
pub use contender::{Generated, Layered, LayeredResuming, Raw, Resuming, StreamContender};
pub use server::Streams;
pub use shape::{Shape, part};
