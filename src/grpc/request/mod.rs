//! Requests that can be sent several times.
#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "for the crates of this repository alone"
)]

mod buffer;
mod captured;
mod replayable;
mod stream;
mod watched_body;

pub use captured::CapturedRequest;
pub use replayable::{ReplayableRequest, one_frame, shrink, too_large};
pub(crate) use watched_body::WatchedBody;
