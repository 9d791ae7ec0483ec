//! Whole tables, from text to policies.

mod convert;
mod corpus;
mod goldens;
mod hostile;
mod merge;
pub(crate) mod optional_data;
mod policies;
mod read;
mod tables;

use tables::{one_entry, one_policy, read, rules, shared};
