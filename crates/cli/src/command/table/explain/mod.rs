//! `gax table explain`: what a table means for one method, in words and numbers.

mod explanation;
mod http;
mod reader;
mod request;
mod run;
mod text;

pub(crate) use run::{ExplainArgs, run};
