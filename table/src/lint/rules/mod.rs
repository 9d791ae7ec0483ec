//! The rules: a file for each kind.

mod all;
mod backoff;
mod codes;
mod coverage;
mod entries;
mod limits;
mod load;
mod names;
mod reader_rules;
mod siblings;
mod suppressions;
mod writes;

pub(super) use all::check;
pub use all::rules;
pub(super) use load::check_load;
pub use siblings::sibling_drift;
pub(super) use suppressions::unused_suppressions;
