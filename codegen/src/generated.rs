//! Generated files.

use crate::Error;
use gax_table::Finding;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The files and findings of [`Builder::generate`](crate::Builder::generate).
#[derive(Debug, Clone)]
pub struct Generated {
    pub(crate) files: Vec<GeneratedFile>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) descriptor_set: Vec<u8>,
    pub(crate) inputs: Vec<PathBuf>,
}

impl Generated {
    gax_text::getters! { self:
        /// The files, in the order of their names.
        pub files: &[GeneratedFile] = &self.files;

        /// Findings about the retry tables: names that no proto has, values without effect.
        pub findings: &[Finding] = &self.findings;

        /// The protos and tables that were read from disk.
        pub inputs: &[PathBuf] = &self.inputs;

        /// The compiled protos as an encoded `FileDescriptorSet`, imports and comments included.
        pub descriptor_set: &[u8] = &self.descriptor_set;
    }

    /// Writes the files into a directory. One that is the same already is left untouched.
    ///
    /// # Errors
    ///
    /// A file can't be written.
    pub fn write_to(&self, directory: impl AsRef<Path>) -> Result<(), Error> {
        self.files.iter().try_for_each(|file| {
            let path = directory.as_ref().join(&file.name);
            write_if_changed(&path, file.content.as_bytes()).map_err(|error| Error::io("write", &path, error))
        })
    }
}

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    pub(crate) name: String,
    pub(crate) content: String,
}

impl GeneratedFile {
    gax_text::getters! { self:
        /// The name, such as `google.cloud.asset.v1.rs`.
        pub name: &str = &self.name;

        /// The code.
        pub content: &str = &self.content;
    }
}

pub(crate) fn write_if_changed(path: &Path, content: &[u8]) -> io::Result<()> {
    // A file of another length, or none, need not be read.
    let length = fs::metadata(path).ok().filter(Metadata::is_file).map(|metadata| metadata.len());
    let is_same = length == Some(content.len() as u64) && fs::read(path).is_ok_and(|old| old == content);
    if is_same { Ok(()) } else { fs::write(path, content) }
}
