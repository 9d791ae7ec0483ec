//! The rules: a file for each kind.

mod all;
mod beside;
mod codes;
mod coverage;
mod entries;
#[cfg(feature = "http")]
mod http;
mod names;
mod numbers;
mod reader_rules;
mod siblings;
mod suppressions;
mod writes;

pub(super) use all::check;
pub use all::{page, rules};
pub(super) use numbers::load::check_load;
pub use siblings::sibling_drift;
pub(super) use suppressions::unused_suppressions;
