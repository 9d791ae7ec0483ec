//! How attempts fail: the status that a server sent, and what errors mean.

pub(super) mod cause;
mod code_ext;
mod failure;
mod headers;
pub(super) mod received;
mod server_delay;

pub use code_ext::CodeExt;
pub(crate) use failure::{Failure, Messages, not_sent, with_report};
