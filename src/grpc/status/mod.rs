//! How attempts fail: the status that a server sent, and what errors mean.
#![allow(
    missing_debug_implementations,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "for the crates of this repository alone"
)]

pub(crate) mod cause;
mod code_ext;
mod failure;
mod headers;
pub mod received;
mod server_delay;

pub use code_ext::CodeExt;
pub use failure::{Failure, not_sent};
pub(crate) use failure::{Messages, with_report};
