//! Whole tables, from text to policies.

mod convert;
mod corpus;
mod goldens;
mod hostile;
mod merge;
mod read;
mod tables;

use tables::{one_entry, one_policy, read, rules, shared};
