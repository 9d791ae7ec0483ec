//! `gax table lint`: errors, dead settings and unsafe retries in retry tables.

mod args;
mod baseline;
mod check;
mod config;
mod json;
mod notices;
mod place;
mod report;
mod run;
mod text;

pub(crate) use args::LintArgs;
pub(super) use args::rule_or_severity;
pub(crate) use run::run;
