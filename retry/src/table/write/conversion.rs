//! The way from a table to a text.

use super::gather::gather;
use super::service_config::write_service_config;
use super::toml::write_toml;
use crate::table::{Finding, RetryTable, TableError, TableFormat};

/// A table in another form, and what that form could not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    pub(super) text: String,
    pub(super) findings: Vec<Finding>,
}

impl Conversion {
    /// The text of the new file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the new form can't express (`not-expressible`); empty if nothing was lost.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl RetryTable {
    /// Writes the table in a format.
    ///
    /// It writes what the file says, not what a dialect makes of it, so that a table which goes to
    /// [`Toml`](TableFormat::Toml) and back is the same table. What the format can't express is a finding
    /// of the result.
    ///
    /// # Errors
    ///
    /// The format is one that this crate only reads: [`GapicYaml`](TableFormat::GapicYaml) or
    /// [`ClientConfig`](TableFormat::ClientConfig).
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{RetryTable, TableFormat};
    ///
    /// let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "60s"}]}"#;
    /// let toml = RetryTable::parse(text)?.convert(TableFormat::Toml)?;
    /// assert_eq!(toml.text(), "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"60s\"\n");
    /// assert_eq!(toml.findings(), []);
    /// # Ok::<(), gax_retry::TableError>(())
    /// ```
    pub fn convert(&self, format: TableFormat) -> Result<Conversion, TableError> {
        let config = gather(self);
        match format {
            TableFormat::ServiceConfig => Ok(write_service_config(&config)),
            TableFormat::Toml => Ok(write_toml(&config)),
            TableFormat::GapicYaml | TableFormat::ClientConfig => {
                Err(TableError::new(format!("a table can't be written as {format}"))
                    .with_help("write it as grpc or toml"))
            }
        }
    }
}
