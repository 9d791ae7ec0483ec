//! How requests of a method are batched: settings, the words for what is sent, and with the feature `batching` the decisions.

#[cfg(feature = "batching")]
mod decisions;
mod element_size;
mod settings;

#[cfg(feature = "batching")]
pub use decisions::{
    Added, BatchAction, BatchId, Batches, BatchingPolicy, BatchingRules, NewElement, OutstandingLimit,
    ReadyBatch, Refusal, Ticket,
};
pub use element_size::ElementSize;
pub use settings::{BatchTrigger, BatchingSettings, BatchingSettingsBuilder, LimitExceeded};
