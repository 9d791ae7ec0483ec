//! Requests that can be sent several times.

mod buffer;
mod captured;
mod inspection;
mod replayable;

pub(crate) use buffer::{Read, RequestBuffer};
pub(crate) use captured::CapturedRequest;
pub(crate) use inspection::Inspection;
pub(crate) use replayable::{PREVIOUS_ATTEMPTS, ReplayableRequest, grpc_request, path_of, shrink, too_large};
