//! The tables that are linted: files, what folders hold, standard input.

use crate::command::table::source::{Loaded, Reading};
use crate::failure::Failure;
use crate::input::{Input, tables_in};
use std::path::PathBuf;

/// The tables that could be read, and why others could not.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub(super) files: Vec<Loaded>,
    pub(super) problems: Vec<Failure>,
}

impl Inputs {
    /// Reads files, and the tables in folders, in the order in which they are given.
    pub(super) fn read(paths: &[PathBuf], reading: &Reading) -> Self {
        let mut inputs = Self::default();
        for path in paths {
            let tables = if path.is_dir() { tables_in(path) } else { Ok(vec![Input::table(path)]) };
            for table in tables.unwrap_or_else(|problem| vec![Err(problem)]) {
                match table {
                    Ok(input) => inputs.files.push(reading.loaded(input)),
                    Err(problem) => inputs.problems.push(problem),
                }
            }
        }
        inputs
    }
}
