//! Reads tables from bytes.

use super::client_config::read_client_config;
use super::document::{Node, Source, Span};
use super::findings::Findings;
use super::retry_table::TableFile;
use super::service_config::{dropped_file, read_service_config_file};
use super::syntax::{may_be_service_config, read_document};
use super::{Dialect, RetryTable, TableError, TableFormat};
use std::sync::Arc;

/// The longest text that a table may have: the largest known one has 115 kB.
const LONGEST_TEXT: usize = 16 << 20;

/// Reads a [`RetryTable`] from a file's content.
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | `dialect` | [`Dialect::AsWritten`] |
/// | `format` | recognised from the content |
/// | `file_name` | none: places are told by line and column only |
///
/// # Examples
///
/// ```
/// use gax_retry::{Dialect, RetryTable};
///
/// let text = br#"{"methodConfig": [{"name": [{}], "timeout": "6s", "retries": 3}]}"#;
/// let table = RetryTable::reader().dialect(Dialect::GaxJava).file_name("retry.json").read(text)?;
/// assert_eq!(table.findings()[0].rule(), "dropped-file");
/// # Ok::<(), gax_retry::TableError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a table comes from read()"]
pub struct TableReader {
    dialect: Dialect,
    format: Option<TableFormat>,
    file: Option<Arc<str>>,
}

impl TableReader {
    /// Whose reading of the file counts.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The file's name, for messages and origins. Nothing is read from it.
    pub fn file_name(mut self, name: impl AsRef<str>) -> Self {
        self.file = Some(name.as_ref().into());
        self
    }

    /// In which format the file is; by default its content tells.
    pub fn format(mut self, format: impl Into<Option<TableFormat>>) -> Self {
        self.format = format.into();
        self
    }

    pub(super) fn has_file_name(&self) -> bool {
        self.file.is_some()
    }

    /// Reads a table from a file's content, in whatever format it is.
    ///
    /// # Errors
    ///
    /// The content has no meaning in the dialect: the error says where, why, and what to write. Content of
    /// more than 16 MiB is refused unread.
    pub fn read(&self, content: &[u8]) -> Result<RetryTable, TableError> {
        let source = Source::new(self.file.clone(), self.text(content)?);
        let mut findings = Findings::default();
        let file = match read_document(&source, self.format, self.dialect, &mut findings) {
            Err(error) if self.dialect == Dialect::GaxJava && may_be_service_config(&source, self.format) => {
                dropped_file(&error)
            }
            Err(error) => return Err(error),
            Ok((format, root)) => self.file(&source, format, &root, findings)?,
        };
        Ok(RetryTable::assemble(self.dialect, vec![Arc::new(file)]))
    }

    fn file(
        &self,
        source: &Source,
        format: TableFormat,
        root: &Node,
        findings: Findings,
    ) -> Result<TableFile, TableError> {
        match format {
            TableFormat::ServiceConfig => read_service_config_file(source, root, self.dialect, findings),
            TableFormat::ClientConfig => read_client_config(source, root),
            #[cfg(feature = "yaml")]
            TableFormat::GapicYaml => super::gapic::read_gapic_yaml(source, root, self.dialect),
            #[cfg(not(feature = "yaml"))]
            TableFormat::GapicYaml => Err(TableError::new("this build does not read GAPIC YAML")
                .with_help("enable the feature \"yaml\" of gax-retry")),
            #[cfg(feature = "toml")]
            TableFormat::Toml => super::toml_form::read_toml_table(source, root, self.dialect),
            #[cfg(not(feature = "toml"))]
            TableFormat::Toml => Err(TableError::new("this build does not read TOML")
                .with_help("enable the feature \"toml\" of gax-retry")),
        }
    }

    fn text<'a>(&self, content: &'a [u8]) -> Result<&'a str, TableError> {
        let place = |valid: &[u8], text: String| {
            let source = Source::new(self.file.clone(), std::str::from_utf8(valid).unwrap_or_default());
            let end = source.text().len();
            let span = Span { start: end, end };
            (source.origin(span), text)
        };
        if content.len() > LONGEST_TEXT {
            let (origin, text) = place(&[], String::new());
            let message =
                format!("the file has {} bytes, but a retry table has 16 MiB at most", content.len());
            return Err(TableError::new(message).with_help("split the file").at(origin, text));
        }
        std::str::from_utf8(content).map_err(|error| {
            let (valid, rest) = content.split_at(error.valid_up_to());
            let byte = rest.first().copied().unwrap_or_default();
            let (origin, text) = place(valid, format!("0x{byte:02x}"));
            TableError::new(format!("the byte 0x{byte:02x} is not UTF-8"))
                .with_help("save the file as UTF-8")
                .at(origin, text)
        })
    }
}

impl RetryTable {
    /// Reads tables with options: dialect, format, file name.
    pub fn reader() -> TableReader {
        TableReader::default()
    }

    /// Reads a table as written, in whatever format it is.
    ///
    /// # Errors
    ///
    /// The text has no meaning; see [`TableReader::read`].
    pub fn parse(text: &str) -> Result<Self, TableError> {
        TableReader::default().read(text.as_bytes())
    }
}
