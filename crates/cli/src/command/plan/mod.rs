//! `gax plan`: the table of attempts that settings lead to.

mod args;
mod run;
mod samples;
mod settings;
mod table;

pub(crate) use args::PlanArgs;
pub(crate) use run::run;
