//! How attempts fail: the status that a server sent, and what errors mean.

pub(crate) mod cause;
mod code_ext;
mod failure;
mod headers;
pub mod received;
mod server_delay;

pub use code_ext::CodeExt;
pub use failure::{Failure, not_sent};
pub(crate) use failure::{Messages, with_report};
