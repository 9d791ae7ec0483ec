//! Requests that can be sent several times.

mod into_replay;
mod opening;
mod replay;
mod replay_body;
mod replayable;

pub use into_replay::IntoReplay;
pub use replay::Replay;
pub use replay_body::ReplayBody;
pub(crate) use replayable::ReplayableRequest;
