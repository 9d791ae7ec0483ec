//! Requests, and what is buffered of them.

mod buffer;
mod message;

pub(crate) use buffer::RequestBuffer;
pub(crate) use message::{Encoded, Undecoded, encoded};
