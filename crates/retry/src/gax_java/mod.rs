//! The arithmetic of gax-java 2.63.1, for programs that need exactly its attempts.
//!
//! A client gets it with [`Compatibility::GaxJava`](crate::Compatibility::GaxJava); the same
//! [`Policy`](crate::Policy) then follows these rules instead of the documented ones:
//!
//! * Every duration is cut to whole milliseconds before it is used, every product likewise.
//! * 0 means "not set": no total timeout, no limit by count, no deadline of an attempt.
//! * A wait with jitter is a whole number of milliseconds in [0, delay): the delay itself is never drawn.
//! * What is left of the total timeout is taken when the attempt before ends, not when the next one
//!   starts; less than 1 ms left refuses the next attempt.
//! * A method without retryable codes, with one attempt only, or with no limit at all makes one
//!   attempt whose deadline is the *total* timeout, whatever its RPC timeouts say.
//! * A running attempt is never cut by the total timeout.
//!
//! [`RawSettings`] are settings as Java holds them, where any number may be wrong. Two Java setters
//! mean something else than their documentation: `setLogicalTimeout` puts no limit on attempts (see
//! [`RawSettings::set_logical_timeout`]), and a maximum that is left at zero is a cap of zero.
//!
//! A Java user's `setLogicalTimeout` is written out if [`RetrySettings`](crate::RetrySettings) are needed, because
//! [`RetrySettings::logical_timeout`](crate::RetrySettings::logical_timeout) is the documented one attempt:
//!
//! ```
//! use gax_retry::{AttemptPlan, Code, Compatibility, NoJitter, Policy, Response, RetrySettings};
//! use std::time::Duration;
//!
//! let timeout = Duration::from_millis(3);
//! let settings = RetrySettings::builder()
//!     .total_timeout(timeout).initial_rpc_timeout(timeout).max_rpc_timeout(timeout)
//!     .build()?;
//! let policy = Policy::with_compatibility(&settings, Code::Unavailable, Compatibility::GaxJava);
//! let refused = Response::after(Duration::from_millis(1), Code::Unavailable);
//! let plan = AttemptPlan::new(&policy, &[refused, refused], &mut NoJitter);
//! assert_eq!(plan.attempts().len(), 3);
//! # Ok::<(), gax_retry::SettingsError>(())
//! ```

mod algorithm;
#[cfg(feature = "polling")]
mod polling;
mod raw_settings;
#[cfg(test)]
mod tests;

pub use algorithm::{Algorithm, Limit, Next};
pub(crate) use algorithm::{deadline, millis};
#[cfg(feature = "polling")]
pub use polling::{Poll, PollOperation, Polling};
pub use raw_settings::{InvalidRawSettings, RawSettings};
