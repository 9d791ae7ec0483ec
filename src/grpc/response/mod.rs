//! Responses: how much of one is read before it counts, and how the caller gets the rest.

mod body;
mod canned;
mod handover;
mod observed_stream;
mod open_body;
mod raw_codec;
mod reader;

pub use body::ResponseBody;
pub(crate) use canned::{Canned, now};
pub(crate) use handover::hand_over;
pub(crate) use open_body::{OpenBody, Remainder};
pub(crate) use raw_codec::RawCodec;
pub(crate) use reader::{Fault, ReadExtent, ReplySlot, check_head, pass_on, read, read_on, unread};
