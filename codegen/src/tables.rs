//! The retry tables, and what else there is about an API, that a build script names.

use crate::Error;
use gax_table::input::read_file;
use gax_table::{Dialect, RetryTable, ServiceYaml, TableError, TableFormat};
use std::path::PathBuf;

/// Where a text comes from.
#[derive(Debug)]
pub(crate) enum TableSource {
    /// A file.
    Path(PathBuf),
    /// A text, with the name that messages give it.
    Text { name: String, text: Vec<u8> },
}

impl TableSource {
    /// Its name and its content, of which `read` makes something.
    fn load<T>(
        &self,
        what: &'static str,
        read: impl FnOnce(&str, &[u8]) -> Result<T, TableError>,
    ) -> Result<T, Error> {
        let content;
        let (name, content) = match self {
            TableSource::Path(path) => {
                content = read_file(path).map_err(|error| Error::io(what, path, error))?;
                (path.to_string_lossy(), content.as_slice())
            }
            TableSource::Text { name, text } => (name.as_str().into(), text.as_slice()),
        };
        read(&name, content).map_err(|error| {
            // Places in the text are counted without a byte order mark.
            let text = std::str::from_utf8(content).ok().map(|text| text.trim_start_matches('\u{feff}'));
            Error::table(error, &name, text)
        })
    }

    fn path(&self) -> Option<&PathBuf> {
        match self {
            TableSource::Path(path) => Some(path),
            TableSource::Text { .. } => None,
        }
    }
}

/// The files about an API that a build script names.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) tables: Vec<TableSource>,
    pub(crate) gapic_yaml: Vec<TableSource>,
    pub(crate) service_yaml: Option<TableSource>,
}

/// The tables that have been read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// All tables as one: where two of them name the same method, the later one counts. GAPIC YAML comes last.
    pub(crate) table: RetryTable,
    pub(crate) service_yaml: Option<ServiceYaml>,
}

impl Sources {
    pub(crate) fn load(&self, dialect: Dialect) -> Result<Loaded, Error> {
        let reader = RetryTable::reader().dialect(dialect);
        let table = |source: &TableSource| {
            source.load("read the retry table", |name, content| reader.clone().file_name(name).read(content))
        };
        let gapic = |source: &TableSource| {
            let reader = reader.clone().format(TableFormat::GapicYaml);
            source.load("read the GAPIC YAML", |name, content| reader.file_name(name).read(content))
        };
        let tables = self.tables.iter().map(table).chain(self.gapic_yaml.iter().map(gapic));
        let tables: Vec<RetryTable> = tables.collect::<Result<_, _>>()?;
        let service_yaml = self.service_yaml.as_ref();
        Ok(Loaded {
            table: RetryTable::merged(tables).map_err(|error| Error::table(error, "", None))?,
            service_yaml: service_yaml
                .map(|source| {
                    source.load("read the service YAML", |name, text| ServiceYaml::parse_file(name, text))
                })
                .transpose()?,
        })
    }

    /// Those that are read from disk.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let all = self.tables.iter().chain(&self.gapic_yaml).chain(&self.service_yaml);
        all.filter_map(TableSource::path).cloned()
    }
}
