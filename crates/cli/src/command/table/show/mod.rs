//! `gax table show`: what a table says, method by method.

mod json;
mod preset;
mod rules;
mod run;
mod stub_tables;
mod text;

pub(crate) use run::{ShowArgs, run};
