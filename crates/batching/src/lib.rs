#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod batcher;
mod call;
mod description;
mod driver;
mod element;
mod error;
mod outcome;
mod shared;
mod state;
#[cfg(test)]
mod tests;
mod totals;

pub use batcher::Batcher;
pub use call::BatchCall;
pub use description::Batching;
pub use driver::BatchDriver;
pub use element::{Batched, ElementError, ElementFailure, ElementFuture};
pub use error::{AddError, AddRefusal, BatcherError};
pub use gax_retry::batching::{BatchTrigger, BatchingRules, ElementSize, OutstandingLimit};
pub use gax_retry::{BatchingSettings, BatchingSettingsBuilder, LimitExceeded};
pub use totals::BatcherTotals;
