//! `gax table diff`: what changes for callers, and for the service, from one table to another.

mod args;
mod behaviour;
mod compare;
mod hedged;
mod json;
mod kinds;
mod notices;
mod polled;
mod rename;
mod run;
mod side;
mod text;

pub(crate) use args::DiffArgs;
pub(crate) use run::run;
