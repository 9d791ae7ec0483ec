//! `gax table diff`: what changes for callers, and for the service, from one table to another.

mod args;
mod change;
mod compare;
mod fact;
mod http;
mod json;
mod kinds;
mod notices;
mod rename;
mod run;
mod side;
mod text;

pub(crate) use args::DiffArgs;
pub(crate) use run::run;
