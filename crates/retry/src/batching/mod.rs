//! How requests of a method are batched: settings, and with the feature `batching` the decisions.

#[cfg(feature = "batching")]
mod action;
#[cfg(feature = "batching")]
mod batches;
#[cfg(feature = "batching")]
mod element;
#[cfg(feature = "batching")]
mod flow_control;
#[cfg(feature = "batching")]
mod policy;
mod settings;
#[cfg(test)]
#[cfg(feature = "batching")]
mod tests;

#[cfg(feature = "batching")]
pub use action::{Added, BatchAction, BatchId, BatchTrigger, ReadyBatch, Refusal, Ticket};
#[cfg(feature = "batching")]
pub use batches::Batches;
#[cfg(feature = "batching")]
pub use element::{ElementSize, NewElement};
#[cfg(feature = "batching")]
pub use flow_control::OutstandingLimit;
#[cfg(feature = "batching")]
pub use policy::{BatchingPolicy, BatchingRules};
pub use settings::{BatchingSettings, BatchingSettingsBuilder, LimitExceeded};
