//! The state of a batcher, behind its lock.

mod batcher_state;
mod deferred;

pub(crate) use batcher_state::{BegunBatch, Entered, Phase, State, Turn};
pub(crate) use deferred::Deferred;
