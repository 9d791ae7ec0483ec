//! The tables that are linted: files, what folders hold, standard input.

use crate::command::table::source::{Loaded, Reading};
use crate::failure::Failure;
use crate::folder::{files_in, is_table};
use crate::input::Input;
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
        let found = match files_in(folder) {
            Ok(found) => found,
            Err(error) => {
                let sentence =
                    format!("can't read {} ({error}); give the path of a retry table", folder.display());
                return self.problems.push(Failure::Usage(sentence));
            }
        };
        let before = self.files.len();
        for path in found {
            match Input::table(&path) {
                Ok(input) if is_table(&path, &input.content) => self.files.push(reading.loaded(input)),
                Ok(_) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
        if self.files.len() == before {
            let sentence = format!(
                "no retry table is in {}; name one, if its content doesn't show what it is",
                folder.display()
            );
            self.problems.push(Failure::Usage(sentence));
        }
    }
}
