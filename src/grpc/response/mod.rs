//! Responses: how much of one is read before it counts, and how the caller gets the rest.

mod body;
mod handover;
mod observed_stream;
mod open_body;
mod reader;

pub use body::ResponseBody;
pub use handover::hand_over;
pub(crate) use open_body::OpenBody;
pub use open_body::Remainder;
pub(crate) use reader::{Fault, ReplySlot, check_head, read, read_on, unread};
pub use reader::{ReadExtent, pass_on};
