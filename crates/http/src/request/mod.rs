//! Requests that can be sent several times.

mod attempt_body;
mod into_replay;
mod replay;
mod replay_body;
mod replayable;

pub use attempt_body::CutOff;
pub use into_replay::IntoReplay;
pub use replay::Replay;
pub use replay_body::ReplayBody;
pub(crate) use replayable::ReplayableRequest;
