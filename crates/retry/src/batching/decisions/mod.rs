//! The decisions of a batcher: which elements go into which batch, and when it is sent.

mod action;
mod batches;
mod element;
mod flow_control;
mod policy;
#[cfg(test)]
mod tests;

pub use action::{Added, BatchAction, BatchId, ReadyBatch, Refusal, Ticket};
pub use batches::Batches;
pub use element::NewElement;
pub use flow_control::OutstandingLimit;
pub use policy::{BatchingPolicy, BatchingRules};
