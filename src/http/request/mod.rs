//! Requests that can be sent several times.

mod replay;
mod replayable;

pub use replay::{Replay, ReplayBody};
pub(crate) use replayable::ReplayableRequest;
