//! Runs recorded cases of gax-java through the engine and counts what differs.
//!
//! A file of cases has one JSON object a line. A case holds retry settings, a script of what the
//! server does, and the attempts that the Java library made of it (times in microseconds from the
//! operation's start). There are four kinds:
//!
//! * `unary`: `expected` is what the bare exponential algorithm does, `expected_callable` (an object,
//!   or `"same"`) what a client's call does, which also knows methods without retries and call
//!   contexts. Both are checked; the second runs through [`Operation`](crate::Operation), as a client does.
//! * `streaming`: server streams that can or can't be resumed after messages were delivered.
//! * `poll`: the polling of long-running operations.
//! * `validate`: what `build()` says to the settings.
//!
//! An unknown kind, an unknown field, a missing or mistyped one is an error of that case and counted.
//! A line that is no case at all is an error of the file: a [`NotCases`].
//!
//! # Examples
//!
//! ```
//! use gax_retry::conformance::Runner;
//!
//! let case = r#"{"id": "v-1", "kind": "validate", "category": "edge", "settings": {
//!     "total_timeout_us": -1000, "initial_retry_delay_us": 0, "retry_delay_multiplier": 1.0,
//!     "max_retry_delay_us": 0, "max_attempts": 0, "initial_rpc_timeout_us": 0,
//!     "rpc_timeout_multiplier": 1.0, "max_rpc_timeout_us": 0},
//!     "ok": false, "error": "total timeout must not be negative"}"#.replace('\n', " ");
//! let mut runner = Runner::new();
//! runner.run_line(&case)?;
//! runner.run_line(&case.replace("-1000", "1000"))?;
//! let summary = runner.summary();
//! assert_eq!((summary.passed(), summary.failed()), (1, 1));
//! assert_eq!(
//!     summary.failures()[0].to_string(),
//!     "v-1 (line 2): ok is false in the record, but true here"
//! );
//! # Ok::<(), gax_retry::conformance::NotCases>(())
//! ```

mod case;
mod compare;
mod drive;
mod fields;
mod record;
mod runner;
mod summary;
#[cfg(test)]
mod tests;
mod tracer;

pub use runner::{NotCases, Runner};
pub use summary::{CaseFailure, CategoryCounts, Summary};
