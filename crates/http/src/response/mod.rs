//! Responses: how much of one is read before it counts, and how the caller gets the rest.

mod open_body;
mod reader;

pub use open_body::HttpResponseBody;
pub use open_body::{EndedEarly, OpenBody};
pub(crate) use reader::{DRAIN_TIME, Read, ReadExtent, ResponseReader};
