//! The way from a table to a text.

use super::envoy::write_envoy;
use super::gather::gather;
use super::istio::write_istio;
use super::named::{write_client_config, write_gapic};
use super::service_config::write_service_config;
use super::target::ConversionTarget;
use super::toml::write_toml;
use crate::table::{Finding, RetryTable, TableFormat};

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
    /// Writes the table in another form.
    ///
    /// [`Toml`](TableFormat::Toml) and [`ServiceConfig`](TableFormat::ServiceConfig) get what the file
    /// says, so that a table which goes to one and back is the same table; the others get what the
    /// table's dialect makes of it. What the target can't express is a finding of the result, never left
    /// out in silence.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::{RetryTable, TableFormat};
    ///
    /// let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "60s"}]}"#;
    /// let toml = RetryTable::parse(text)?.convert(TableFormat::Toml);
    /// assert_eq!(toml.text(), "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"60s\"\n");
    /// assert_eq!(toml.findings(), []);
    /// # Ok::<(), gax_retry::TableError>(())
    /// ```
    #[must_use]
    pub fn convert(&self, target: impl Into<ConversionTarget>) -> Conversion {
        match target.into() {
            ConversionTarget::Table(TableFormat::ServiceConfig) => write_service_config(&gather(self)),
            ConversionTarget::Table(TableFormat::Toml) => write_toml(&gather(self)),
            ConversionTarget::Table(TableFormat::GapicYaml) => write_gapic(self),
            ConversionTarget::Table(TableFormat::ClientConfig) => write_client_config(self),
            ConversionTarget::Envoy => write_envoy(self),
            ConversionTarget::Istio => write_istio(self),
        }
    }
}
