//! Requests taken apart, and replies.

mod content_range;
mod multipart;
mod range;
mod reply;
mod target;

pub(crate) use content_range::ContentRange;
pub(crate) use multipart::related_parts;
pub(crate) use range::ByteRange;
pub(crate) use reply::Reply;
pub(crate) use target::{Target, text};
