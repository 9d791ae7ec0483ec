//! The values that flags take, read from text.
//!
//! A message of these parsers follows the flag and its value, as in `--total-timeout "5" has no unit`,
//! so each starts with a verb.

mod address;
mod codes;
mod dialect;
mod number;
mod outcome;
mod parsed;

pub(crate) use address::address;
pub(crate) use codes::{Codes, codes, failure_code};
pub(crate) use dialect::{dialect, named};
pub(crate) use gax_text::parse_duration as duration;
pub(crate) use number::{attempts, failures, fresh_seed, load, multiplier, samples, seed};
pub(crate) use outcome::outcome;
pub(crate) use parsed::parsed;
