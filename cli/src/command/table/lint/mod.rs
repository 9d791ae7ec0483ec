//! `gax table lint`: errors, dead settings and unsafe retries in retry tables.

mod args;
mod baseline;
mod check;
mod config;
mod github;
mod inputs;
mod json;
mod place;
mod report;
mod run;
mod sarif;
mod text;

pub(crate) use args::LintArgs;
pub(super) use args::rule_or_severity;
pub(crate) use run::run;
