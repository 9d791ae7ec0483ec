//! How requests of a method are batched: settings, the words for what is sent, and with the feature `batching` the decisions.

#[cfg(feature = "batching")]
mod action;
#[cfg(feature = "batching")]
mod batches;
#[cfg(feature = "batching")]
mod element;
mod element_size;
#[cfg(feature = "batching")]
mod flow_control;
#[cfg(feature = "batching")]
mod policy;
mod settings;
#[cfg(test)]
#[cfg(feature = "batching")]
mod tests;
mod trigger;

#[cfg(feature = "batching")]
pub use action::{Added, BatchAction, BatchId, ReadyBatch, Refusal, Ticket};
#[cfg(feature = "batching")]
pub use batches::Batches;
#[cfg(feature = "batching")]
pub use element::NewElement;
pub use element_size::ElementSize;
#[cfg(feature = "batching")]
pub use flow_control::OutstandingLimit;
#[cfg(feature = "batching")]
pub use policy::{BatchingPolicy, BatchingRules};
pub use settings::{BatchingSettings, BatchingSettingsBuilder, LimitExceeded};
pub use trigger::BatchTrigger;
