//! Requests that can be sent several times.

mod buffer;
mod captured;
mod replayable;
mod stream;
mod watched_body;

pub use captured::CapturedRequest;
pub use replayable::{ReplayableRequest, one_frame, shrink, too_large};
pub(crate) use watched_body::WatchedBody;
