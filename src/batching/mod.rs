//! Batchers: elements of many callers, sent together.
//!
//! A [`Batcher`] takes elements one at a time and sends them in batches, each by one operation with its own retries. Each
//! element has a separate future, which ends with its reply or with the error of its batch. [`BatchCall`] says how a batch
//! is sent and how its reply is split, [`Batching`] when it is sent and how much may be outstanding.
//!
//! # Examples
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use tonic_gax::batching::{BatchCall, Batcher};
//! use tonic_gax::settings::BatchingSettings;
//! use gax_driver::Retryer;
//! use tonic_gax::{Code, RetrySettings};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
//! let retryer = Retryer::new(&RetrySettings::builder().max_attempts(3).build()?, [Code::Unavailable]).named("lengths");
//! let lengths = BatchCall::closure(retryer, |_, words: Arc<[String]>| async move {
//!     // One request for all of them.
//!     Ok::<_, tonic::Status>(words.iter().map(String::len).collect::<Vec<_>>())
//! });
//! let settings = BatchingSettings::builder().element_count_threshold(100).delay_threshold(Duration::from_millis(10));
//! let batcher = Batcher::spawn(lengths.replies_in_order().settings(settings.build()))?;
//!
//! let one = batcher.add("one".to_owned()).await?;
//! let three = batcher.add("three".to_owned()).await?;
//! let (one, three) = (one.await?, three.await?);
//! assert_eq!((*one.value(), *three.value()), (3, 5));
//! assert_eq!((one.batch_elements(), one.report().unwrap().attempts().len()), (2, 1));
//! assert_eq!(batcher.close().await.batches(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod waiting;

pub use batcher::Batcher;
pub use call::BatchCall;
pub use description::Batching;
pub use driver::BatchDriver;
pub use element::{Batched, ElementError, ElementFailure, ElementFuture};
pub use error::{AddError, AddRefusal, BatcherError};
pub use gax_retry::batching::{BatchTrigger, BatchingRules, ElementSize, OutstandingLimit};
pub use totals::BatcherTotals;
