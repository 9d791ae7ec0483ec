//! Requests that can be sent several times.

mod buffer;
mod captured;
mod inspection;
mod own_parts;
mod replayable;
mod stream;
mod watched_body;

pub(crate) use buffer::{Read, RequestBuffer, Unfinished};
pub(crate) use captured::CapturedRequest;
pub(crate) use inspection::Inspection;
pub(crate) use own_parts::{Known, OwnParts};
pub(crate) use replayable::{ReplayableRequest, fill, one_frame, path_of, shrink, too_large};
pub(crate) use stream::RequestStream;
pub(crate) use watched_body::WatchedBody;
