//! One side of the comparison: a file, a folder, or either of a git revision.

use crate::command::table::source::{Api, Reading};
use crate::failure::Failure;
use crate::folder::{is_table, may_be_table, no_table_in};
use crate::git::{GitKind, GitPath};
use crate::input::Input;
use gax_table::RetryTable;
use std::path::Path;

/// Its table, and the files that it is from.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) table: RetryTable,
    revision: Option<GitPath>,
}

impl Side {
    pub(super) fn read(
        path: &Path,
        gapic_yaml: Option<&Path>,
        reading: &Reading,
        api: Option<&Api>,
    ) -> Result<Self, Failure> {
        let gapic_yaml = gapic_yaml.map(|path| file(path, "a GAPIC YAML")).transpose()?;
        let inputs = inputs(path)?;
        if inputs.is_empty() {
            return Err(no_table_in(path));
        }
        let table = reading.merged(&inputs, gapic_yaml.as_ref(), api)?;
        Ok(Self { table, revision: GitPath::parse(path) })
    }

    /// The path of a file as it is in the working tree, if it is there at all: an annotation goes there.
    pub(super) fn path_in_tree<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        match &self.revision {
            _ if name == "<stdin>" => None,
            None => Some(name),
            Some(revision) => {
                let (before, _) = revision.text.split_once(':')?;
                name.strip_prefix(before)?.strip_prefix(':').map(|path| path.trim_start_matches("./"))
            }
        }
    }
}

/// A single file, which may be one of a revision.
fn file(path: &Path, what: &str) -> Result<Input, Failure> {
    match GitPath::parse(path) {
        Some(git) => of_revision(&git),
        None => Input::read(path, what),
    }
}

fn of_revision(git: &GitPath) -> Result<Input, Failure> {
    Ok(Input { name: git.text.clone(), content: git.read()? })
}

fn inputs(path: &Path) -> Result<Vec<Input>, Failure> {
    if let Some(git) = GitPath::parse(path) {
        return match git.kind()? {
            GitKind::File => Ok(vec![of_revision(&git)?]),
            GitKind::Folder => in_revision(&git),
        };
    }
    Input::tables(&[path.to_owned()])
}

fn in_revision(git: &GitPath) -> Result<Vec<Input>, Failure> {
    let is_hidden =
        |path: &Path| path.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
    let mut inputs = Vec::new();
    for file in git.files()? {
        if is_hidden(&file) || !may_be_table(&file) {
            continue;
        }
        let input = of_revision(&git.join(&file.to_string_lossy()))?;
        if is_table(&file, &input.content) {
            inputs.push(input);
        }
    }
    Ok(inputs)
}
