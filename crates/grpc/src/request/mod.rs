//! Requests: what is buffered of them, and up to which limits.

mod buffer;
mod limits;
mod message;

pub(crate) use buffer::RequestBuffer;
pub(crate) use limits::{Limits, ReplayMemory};
pub(crate) use message::{Encoded, Undecoded, encoded};
