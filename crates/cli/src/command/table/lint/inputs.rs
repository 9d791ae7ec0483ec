//! The tables that are linted: files, what folders hold, standard input.

use crate::command::table::source::{Loaded, Reading};
use crate::failure::Failure;
use crate::input::{Input, tables_in};
use std::path::{Path, PathBuf};

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
            if path.is_dir() {
                inputs.folder(path, reading);
            } else {
                inputs.file(path, reading);
            }
        }
        inputs
    }

    fn file(&mut self, path: &Path, reading: &Reading) {
        match Input::table(path) {
            Ok(input) => self.files.push(reading.loaded(input)),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn folder(&mut self, folder: &Path, reading: &Reading) {
        match tables_in(folder) {
            Err(problem) => self.problems.push(problem),
            Ok(tables) => {
                for table in tables {
                    match table {
                        Ok(input) => self.files.push(reading.loaded(input)),
                        Err(problem) => self.problems.push(problem),
                    }
                }
            }
        }
    }
}
