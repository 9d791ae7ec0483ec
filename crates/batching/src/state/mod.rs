//! The state of a batcher, behind its lock.

mod aftermath;
mod batcher_state;
mod results;

pub(crate) use aftermath::Aftermath;
pub(crate) use batcher_state::{BegunBatch, Entered, Phase, State, Turn};
