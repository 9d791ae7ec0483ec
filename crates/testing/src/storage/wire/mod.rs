//! Requests taken apart, and replies.

mod multipart;
mod ranges;
mod reply;
mod target;

pub(crate) use multipart::related_parts;
pub(crate) use ranges::{ByteRange, ContentRange};
pub(crate) use reply::Reply;
pub(crate) use target::{Target, text};
