//! `gax generate`: code without a build script.

mod args;
mod directory;
mod manifest;
mod report;
mod run;

pub(crate) use args::GenerateArgs;
pub(crate) use run::run;
