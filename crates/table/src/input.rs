//! Input of tools, read up to a limit: tables, and whatever else a person names.

use crate::TableError;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The longest file that is read, in bytes: the largest known retry table has 115 kB.
pub(crate) const MAX_FILE: usize = 16 << 20;

/// A regular file's content, if it is not longer than 16 MiB.
///
/// # Errors
///
/// It can't be read, is longer, or is not a regular file: see [`open_file`].
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_stream(open_file(path)?)
}

/// Opens a regular file that is not longer than 16 MiB.
///
/// # Errors
///
/// It can't be opened, is longer, or is a directory, a pipe, a device or the like.
pub fn open_file(path: &Path) -> io::Result<File> {
    // Asked before it is opened, since opening a pipe waits for its writer.
    check(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// The content of a stream of any kind, if it is not longer than 16 MiB. No more than that is read.
///
/// # Errors
///
/// It can't be read, or is longer.
pub fn read_stream(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    stream.take(MAX_FILE as u64 + 1).read_to_end(&mut content)?;
    if content.len() > MAX_FILE { Err(too_long()) } else { Ok(content) }
}

/// A regular file's content, up to the length that a table may have.
pub(crate) fn load(path: &Path) -> Result<Vec<u8>, TableError> {
    read_file(path)
        .map_err(|error| TableError::from_io(format!("can't read {}: {error}", path.display()), error))
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if metadata.len() > MAX_FILE as u64 { Err(too_long()) } else { Ok(()) }
}

fn too_long() -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, "it is longer than 16 MiB")
}
