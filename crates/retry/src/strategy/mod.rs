//! The back-off of other tools and libraries, as data.
//!
//! Each of them has a separate formula for the wait before a retry, and a separate rule for giving
//! up. A [`BackoffStrategy`] is one of each.

mod attempt_timeouts;
mod backoff;
mod backoff_strategy;
mod display;
mod limits;

pub use attempt_timeouts::AttemptTimeouts;
pub(crate) use backoff::Growth;
pub use backoff::{Backoff, Cap, Jitter};
pub use backoff_strategy::BackoffStrategy;
pub use limits::{Limits, TimeRule};
