//! `gax serve`: a server that misbehaves on order.

mod args;
mod call;
mod comparison;
mod descriptors;
mod outcome;
mod router;
mod run;

pub(crate) use args::ServeArgs;
pub(super) use call::{Seen, between};
pub(super) use comparison::EARLY;
pub(crate) use run::run;
pub(super) use run::{LATE, runtime, start};
