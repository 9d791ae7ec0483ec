//! Recorded cases of gax-java, run through `gax-retry`, and what differs.
//!
//! A file of cases has one JSON object a line. A case holds retry settings, a script of what the
//! server does, and the attempts that the Java library made of it (times in microseconds from the
//! operation's start). There are four kinds:
//!
//! * `unary`: `expected` is what the bare exponential algorithm does, `expected_callable` (an object,
//!   or `"same"`) what a client's call does, which also knows methods without retries and call
//!   contexts. Both are checked; the second runs through a [`Simulation`](gax_retry::plan::Simulation) of the operation that
//!   clients run.
//! * `streaming`: server streams that can or can't be resumed after messages were delivered.
//! * `poll`: the polling of long-running operations.
//! * `validate`: what `build()` says to the settings.
//!
//! An unknown kind, an unknown field, a missing or mistyped one is an error of that case and counted.
//! A line that is no case at all is an error of the file.

mod bare;
mod case;
mod compare;
mod drive;
#[cfg(test)]
mod goldens_tests;
mod record;
mod runner;
mod summary;
#[cfg(test)]
mod tests;

pub(crate) use summary::{CaseFailure, CategoryCounts, Summary};
