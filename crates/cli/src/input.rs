//! Files that the command line names.

use crate::failure::{Failure, usage};
use crate::folder::{files_in, is_table, no_table_in};
use gax_table::input::read_stream;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// `true` if standard input has been read: there is only one.
static STDIN_IS_READ: AtomicBool = AtomicBool::new(false);

/// A file's content, in memory. What can be read once only, such as a pipe, has been.
#[derive(Debug)]
pub(crate) struct Input {
    /// As given on the command line; `<stdin>` for standard input.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

impl Input {
    /// Reads a file, a pipe or, for `-`, standard input, up to the limit that all files have. `what` is what
    /// it should be, such as `a retry table`.
    pub(crate) fn read(path: &Path, what: &str) -> Result<Self, Failure> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
        let content = if is_stdin { read_stdin() } else { File::open(path).and_then(read_stream) };
        match content {
            Ok(content) => Ok(Self { name, content }),
            Err(error) => Err(usage!("can't read {name} ({error}); give the path of {what}")),
        }
    }

    /// Reads a retry table.
    pub(crate) fn table(path: &Path) -> Result<Self, Failure> {
        Self::read(path, "a retry table")
    }

    /// Reads retry tables, and those in folders, in their order.
    pub(crate) fn tables(paths: &[PathBuf]) -> Result<Vec<Self>, Failure> {
        Self::tables_and_problems(paths).collect()
    }

    /// Like `tables`, but for each that can't be read the reason is in its place.
    pub(crate) fn tables_and_problems(paths: &[PathBuf]) -> impl Iterator<Item = Result<Self, Failure>> {
        paths.iter().flat_map(|path| {
            if !path.is_dir() {
                return vec![Self::table(path)];
            }
            tables_in(path).unwrap_or_else(|problem| vec![Err(problem)])
        })
    }

    /// Reads an API's GAPIC YAML.
    pub(crate) fn gapic_yaml(path: &Path) -> Result<Self, Failure> {
        Self::read(path, "a GAPIC YAML")
    }

    /// Reads an API's service YAML.
    pub(crate) fn service_yaml(path: &Path) -> Result<Self, Failure> {
        Self::read(path, "a service YAML")
    }

    /// Reads compiled protos.
    pub(crate) fn descriptor_set(path: &Path) -> Result<Self, Failure> {
        Self::read(path, "a descriptor set")
    }

    /// The text, without a byte order mark.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let content = self.content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.content);
        String::from_utf8_lossy(content)
    }
}

/// The tables in a folder, in order, each read or the reason why it can't be.
fn tables_in(folder: &Path) -> Result<Vec<Result<Input, Failure>>, Failure> {
    let files = files_in(folder).map_err(|error| {
        let path = folder.display();
        usage!("can't read {path} ({error}); give the path of a retry table")
    })?;
    let read = files.into_iter().map(|path| (Input::table(&path), path));
    let tables =
        read.filter(|(input, path)| input.as_ref().map_or(true, |input| is_table(path, &input.content)));
    let tables: Vec<_> = tables.map(|(input, _)| input).collect();
    if tables.is_empty() { Err(no_table_in(folder)) } else { Ok(tables) }
}

/// The path of a file from the root, its folder without `..` and links.
pub(crate) fn from_root(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(absolute),
    }
}

fn read_stdin() -> io::Result<Vec<u8>> {
    if STDIN_IS_READ.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("it was given for another file too"));
    }
    read_stream(io::stdin().lock())
}
