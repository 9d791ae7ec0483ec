//! Reads tables from bytes.

use super::document::{Source, Strictness, read_json};
use super::findings::Findings;
use super::retry_table::TableFile;
use super::service_config::{
    read_service_config, resolve_as_written, resolve_gax_java, resolve_grpc, resolve_grpc_throttling,
    resolve_throttling,
};
use super::{Dialect, Finding, RetryTable, Severity, TableError};
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
        let file = match self.dialect {
            Dialect::AsWritten => as_written(&source)?,
            Dialect::GaxJava => gax_java(&source)?,
            Dialect::Grpc => grpc(&source)?,
        };
        Ok(RetryTable::assemble(self.dialect, vec![Arc::new(file)]))
    }

    fn text<'a>(&self, content: &'a [u8]) -> Result<&'a str, TableError> {
        let place = |valid: &[u8], text: String| {
            let source = Source::new(self.file.clone(), std::str::from_utf8(valid).unwrap_or_default());
            let end = source.text().len();
            let span = super::document::Span { start: end, end };
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

fn as_written(source: &Source) -> Result<TableFile, TableError> {
    let mut findings = Findings::default();
    let root = match read_json(source, Strictness::Strict) {
        Ok(root) => root,
        Err(strict) => {
            let root = read_json(source, Strictness::Comments)?;
            findings.push(
                Finding::new("not-strict-json", Severity::Warning, strict.message())
                    .with_help("gRPC itself refuses the whole file")
                    .at(strict.origin().cloned()),
            );
            root
        }
    };
    let config = read_service_config(source, &root, Dialect::AsWritten, &mut findings)?;
    let entries = resolve_as_written(source, &config, &mut findings)?;
    let throttling = config.throttling.map(|throttling| resolve_throttling(source, &throttling));
    Ok(TableFile { entries, throttling: throttling.transpose()?, findings: findings.into_vec() })
}

fn gax_java(source: &Source) -> Result<TableFile, TableError> {
    let mut findings = Findings::default();
    let config = read_json(source, Strictness::Comments)
        .and_then(|root| read_service_config(source, &root, Dialect::GaxJava, &mut findings));
    let entries = match config {
        Ok(config) => resolve_gax_java(source, &config)?,
        Err(error) => {
            findings.push(dropped_file(&error));
            Vec::new()
        }
    };
    Ok(TableFile { entries, throttling: None, findings: findings.into_vec() })
}

fn grpc(source: &Source) -> Result<TableFile, TableError> {
    let mut findings = Findings::default();
    let root = read_json(source, Strictness::Strict)?;
    let config = read_service_config(source, &root, Dialect::Grpc, &mut findings)?;
    let entries = resolve_grpc(source, &root, &config, &mut findings)?;
    let throttling = config.throttling.map(|throttling| resolve_grpc_throttling(source, &throttling));
    Ok(TableFile { entries, throttling: throttling.transpose()?, findings: findings.into_vec() })
}

/// Google's generator would say nothing.
fn dropped_file(error: &TableError) -> Finding {
    let message = format!(
        "Google's Java generator drops this file in silence, so that no method has a retry or a deadline: {}",
        error.message()
    );
    let finding = Finding::new("dropped-file", Severity::Warning, message).at(error.origin().cloned());
    match error.help() {
        Some(help) => finding.with_help(help),
        None => finding,
    }
}

impl RetryTable {
    /// Reads tables with options: dialect, file name.
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
