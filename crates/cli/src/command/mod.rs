//! The commands, one file or folder each.

mod cli;
mod completions;
mod conformance;
mod generate;
mod man;
mod output;
mod plan;
mod serve;
mod suite;
mod table;

pub(crate) use cli::parse;
pub(crate) use output::{Format, pretty_json, print, print_json, print_pretty_json, report, stream, warn};
