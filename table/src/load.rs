//! The one place that touches the disk.

use super::{RetryTable, TableError, TableReader};
use crate::input::read_file;
use std::path::Path;

/// A regular file's content, up to the length that a table may have.
pub(super) fn load(path: &Path) -> Result<Vec<u8>, TableError> {
    read_file(path)
        .map_err(|error| TableError::from_io(format!("can't read {}: {error}", path.display()), error))
}

impl TableReader {
    /// Reads a table from a file. Its path is the name in messages, if [`file_name`](Self::file_name)
    /// gave no other.
    ///
    /// # Errors
    ///
    /// The file can't be read (the [`source`](std::error::Error::source) says why), is not a regular file, is
    /// longer than 16 MiB, or its content has no meaning; see [`read`](Self::read).
    pub fn read_path(&self, path: impl AsRef<Path>) -> Result<RetryTable, TableError> {
        let path = path.as_ref();
        let content = load(path)?;
        if self.has_file_name() {
            return self.read(&content);
        }
        self.clone().file_name(path.to_string_lossy()).read(&content)
    }
}

impl RetryTable {
    /// Reads a table from a file, as written, in whatever format it is.
    ///
    /// # Errors
    ///
    /// The file can't be read, or has no meaning; see [`TableReader::read_path`].
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, TableError> {
        TableReader::default().read_path(path)
    }
}
