//! The tables that are linted: files, what folders hold, standard input.

use crate::command::table::source::{Loaded, Reading};
use crate::failure::Failure;
use crate::input::Input;
use std::fs;
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
        match reading.load(path) {
            Ok(file) => self.files.push(file),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn folder(&mut self, folder: &Path, reading: &Reading) {
        let mut found = Vec::new();
        if let Err(error) = collect(folder, &mut found) {
            let sentence =
                format!("can't read {} ({error}); give the path of a retry table", folder.display());
            return self.problems.push(Failure::Usage(sentence));
        }
        found.sort();
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

/// The files in a folder, and in those in it, that may be tables by their names. Hidden folders, and what links
/// lead to, are left out.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !is_hidden {
            collect(&path, found)?;
        } else if kind.is_file() && !is_hidden {
            let ending = path.extension().and_then(|ending| ending.to_str());
            found.extend(
                ending
                    .is_some_and(|ending| ["json", "yaml", "yml", "toml"].contains(&ending))
                    .then_some(path),
            );
        }
    }
    Ok(())
}

/// Whether a file's content looks like a retry table: other files stand beside them.
fn is_table(path: &Path, content: &[u8]) -> bool {
    let holds = |text: &str| content.windows(text.len()).any(|part| part == text.as_bytes());
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => {
            holds("\"methodConfig\"") || holds("\"method_config\"") || holds("\"retry_params_name\"")
        }
        Some("toml") => holds("[[entry]]"),
        _ => holds("\ninterfaces:") || content.starts_with(b"interfaces:"),
    }
}
