//! Reads tables from bytes.

use super::client_config::read_client_config;
use super::every_error::every_error;
use super::service_config::{dropped_file, other_readers, read_service_config_file};
use super::syntax::{Document, may_be_service_config, read_document};
use crate::document::Source;
#[cfg(feature = "lint")]
use crate::document::Span;
use crate::input::load;
use crate::model::TableFile;
use crate::values::Values;
use crate::{Dialect, Finding, RetryTable, Severity, TableError, TableFormat};
use std::path::Path;
use std::sync::Arc;

/// Reads a [`RetryTable`] from a file's content.
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | `dialect` | [`Dialect::AsWritten`] |
/// | `format` | recognised from the content |
/// | `file_name` | none: places have line and column only |
/// | `other_readers` | false |
///
/// # Examples
///
/// ```
/// use gax_table::{Dialect, RetryTable};
///
/// let text = br#"{"methodConfig": [{"name": [{}], "timeout": "6s", "retries": 3}]}"#;
/// let table = RetryTable::reader().dialect(Dialect::GaxJava).file_name("retry.json").read(text)?;
/// assert_eq!(table.findings()[0].rule(), "dropped-file");
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a table comes from read()"]
pub struct TableReader {
    dialect: Dialect,
    format: Option<TableFormat>,
    file: Option<Arc<str>>,
    other_readers: bool,
}

impl TableReader {
    gax_text::setters! { self:
        /// Which client's interpretation of the file is used.
        pub dialect(dialect: Dialect) => self.dialect = dialect;

        /// The file's name, for messages and origins. Nothing is read from it.
        pub file_name(name: impl AsRef<str>) => self.file = Some(name.as_ref().into());

        /// The format of the file. Default: detected from its content.
        pub format(format: impl Into<Option<TableFormat>>) => self.format = format.into();

        /// Sets whether the file is also checked as other readers would read it. Default: no. Files that Google's Java generator
        /// drops (`dropped-file`) or fails for (`refused-by-gax-java`), and files that gRPC rejects (`refused-by-grpc`), are
        /// findings then. This only applies to service configs in the dialect [`AsWritten`](Dialect::AsWritten).
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_table::RetryTable;
        ///
        /// let text = br#"{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3}}]}"#;
        /// let table = RetryTable::reader().other_readers(true).read(text)?;
        /// let refused: Vec<&str> =
        ///     table.findings().iter().map(|finding| finding.rule()).filter(|rule| rule.starts_with("refused")).collect();
        /// assert_eq!(refused, ["refused-by-gax-java", "refused-by-grpc"]);
        /// # Ok::<(), gax_table::TableError>(())
        /// ```
        pub other_readers(are_asked: bool) => self.other_readers = are_asked;
    }

    /// Reads a table from a file's content, in whatever format it is.
    ///
    /// # Errors
    ///
    /// The content makes no sense in the dialect: the error says where, why, and what to write, for each place
    /// where it makes none, as far as that can be told. Content of more than 16 MiB is refused unread.
    pub fn read(&self, content: &[u8]) -> Result<RetryTable, TableError> {
        let source = Source::decode(self.file.clone(), content)?;
        Ok(RetryTable::assemble(self.dialect, vec![Arc::new(self.table(&source)?)]))
    }

    fn table(&self, source: &Source) -> Result<TableFile, TableError> {
        match read_document(source, self.format, self.dialect) {
            Err(error) if self.dialect == Dialect::GaxJava && may_be_service_config(source, self.format) => {
                Ok(dropped_file(&error))
            }
            Err(error) => Err(error.in_line(|place| source.line_at(place))),
            Ok(document) => {
                let format = document.format;
                let file = self.file(source, &document).map_err(|first| {
                    let again = Self { other_readers: false, ..self.clone() };
                    every_error(source, document, first, |left| again.file(source, left))
                })?;
                Ok(TableFile {
                    format: Some(format),
                    #[cfg(feature = "lint")]
                    start: Some(source.origin(Span::default())),
                    ..file
                })
            }
        }
    }

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
        if self.file.is_some() {
            return self.read(&content);
        }
        self.clone().file_name(path.to_string_lossy()).read(&content)
    }

    fn file(
        &self,
        source: &Source,
        Document { format, root, not_strict }: &Document,
    ) -> Result<TableFile, TableError> {
        match format {
            TableFormat::ServiceConfig => {
                let values = Values::new(source, self.dialect);
                values.findings.extend(not_strict.as_ref().map(|error| {
                    Finding::new("not-strict-json", Severity::Warning, error.message())
                        .with_help("gRPC itself rejects the whole file, grpc-java aside")
                        .at(error.origin().cloned())
                }));
                // A text without entries may be anything.
                let is_asked = self.other_readers && self.dialect == Dialect::AsWritten;
                if is_asked && source.text().contains("\"methodConfig\"") {
                    values.findings.extend(other_readers(source, root, not_strict.as_ref()));
                }
                read_service_config_file(&values, root)
            }
            TableFormat::ClientConfig => read_client_config(source, root),
            #[cfg(feature = "http")]
            TableFormat::OpenApi => super::openapi::read_openapi(source, root),
            #[cfg(not(feature = "http"))]
            TableFormat::OpenApi => Err(crate::document::not_built_in("an OpenAPI document", "http")),
            #[cfg(feature = "yaml")]
            TableFormat::GapicYaml => super::gapic::read_gapic_yaml(source, root, self.dialect),
            #[cfg(not(feature = "yaml"))]
            TableFormat::GapicYaml => Err(crate::document::not_built_in("GAPIC YAML", "yaml")),
            #[cfg(feature = "toml")]
            TableFormat::Toml => super::toml_form::read_toml_table(source, root, self.dialect),
            #[cfg(not(feature = "toml"))]
            TableFormat::Toml => Err(crate::document::not_built_in("TOML", "toml")),
        }
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
    /// The text makes no sense; see [`TableReader::read`].
    pub fn parse(text: &str) -> Result<Self, TableError> {
        TableReader::default().read(text.as_bytes())
    }

    /// Reads a table from a file, as written, in whatever format it is.
    ///
    /// # Errors
    ///
    /// The file can't be read, or makes no sense; see [`TableReader::read_path`].
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, TableError> {
        TableReader::default().read_path(path)
    }
}
