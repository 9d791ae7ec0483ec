//! Responses: how much of one is read before it counts, and how the caller gets the rest.

mod body;
mod open_body;
mod reader;

pub use body::HttpResponseBody;
pub use open_body::EndedEarly;
pub use open_body::OpenBody;
pub(crate) use reader::{DRAIN_TIME, Read, ReadExtent, ResponseReader};
