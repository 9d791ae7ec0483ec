//! The retry tables that a build script names.

use crate::Error;
use gax_table::__private::read_file;
use gax_table::{Dialect, RetryTable};
use std::path::PathBuf;

/// Where a table's text comes from.
#[derive(Debug)]
pub(crate) enum TableSource {
    /// A file.
    Path(PathBuf),
    /// A text, with the name that messages give it.
    Text { name: String, text: Vec<u8> },
}

impl TableSource {
    fn load(&self, dialect: Dialect) -> Result<RetryTable, Error> {
        let read;
        let (name, content) = match self {
            TableSource::Path(path) => {
                read = read_file(path).map_err(|error| Error::io("read the retry table", path, error))?;
                (path.to_string_lossy(), read.as_slice())
            }
            TableSource::Text { name, text } => (name.as_str().into(), text.as_slice()),
        };
        RetryTable::reader().dialect(dialect).file_name(&name).read(content).map_err(|error| {
            // Places in the text don't count a byte order mark.
            let text = std::str::from_utf8(content).ok().map(|text| text.trim_start_matches('\u{feff}'));
            Error::table(error, &name, text)
        })
    }
}

/// All tables as one: where two of them name the same method, the later one counts.
pub(crate) fn load_tables(sources: &[TableSource], dialect: Dialect) -> Result<RetryTable, Error> {
    let tables: Vec<RetryTable> =
        sources.iter().map(|source| source.load(dialect)).collect::<Result<_, _>>()?;
    RetryTable::merged(tables).map_err(|error| Error::table(error, "", None))
}
