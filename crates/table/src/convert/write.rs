//! The way from a table to a text.

use super::gather::gather;
use super::named::{write_client_config, write_gapic};
use super::proxy::{write_envoy, write_istio};
use super::service_config::write_service_config;
use super::target::ConversionTarget;
use super::text::{Field, Value, write_json};
use super::toml::write_toml;
use crate::document::last_of_each;
use crate::{Finding, RetryTable, ServiceDescription, Severity, TableFormat};
use std::fmt;

/// A table in another form, and what that form could not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    pub(super) text: String,
    pub(super) findings: Vec<Finding>,
}

impl Conversion {
    gax_text::getters! { self:
        /// The text of the new file.
        pub text: &str = &self.text;

        /// Settings that the new form can't express (`not-expressible`) or says in its own way (`approximated`); empty if
        /// it says the same. What is true of several methods of an entry is one finding.
        pub findings: &[Finding] = &self.findings;
    }
}

impl RetryTable {
    /// Writes the table in another format.
    ///
    /// [`Toml`](TableFormat::Toml) and [`ServiceConfig`](TableFormat::ServiceConfig) get the file's contents, so
    /// converting a table to one of them and back returns the same table. The others get the settings that the
    /// table's dialect produces. Everything that the target can't express is a finding of the result.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::{RetryTable, TableFormat};
    ///
    /// let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "60s"}]}"#;
    /// let toml = RetryTable::parse(text)?.convert(TableFormat::Toml);
    /// assert_eq!(toml.text(), "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"60s\"\n");
    /// assert_eq!(toml.findings(), []);
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn convert(&self, target: impl Into<ConversionTarget>) -> Conversion {
        self.convert_for(target, &[])
    }

    /// Writes the table in another form, for services whose methods are known.
    ///
    /// [`GapicYaml`](TableFormat::GapicYaml) and [`ClientConfig`](TableFormat::ClientConfig) list methods
    /// one by one: those of these services, in their order, with what the table says of each, of all methods
    /// of the service, or of everything. The other targets need no such list.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_retry::MethodKind;
    /// use gax_table::{MethodDescription, RetryTable, ServiceDescription, TableFormat};
    ///
    /// let text = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "60s"}]}"#;
    /// let table = RetryTable::parse(text)?;
    /// let service = ServiceDescription::new("a.B").with_method(MethodDescription::new("Get", MethodKind::Unary));
    /// let config = table.convert_for(TableFormat::ClientConfig, &[service]);
    /// assert_eq!(config.findings(), []);
    /// let config = RetryTable::parse(config.text())?;
    /// assert_eq!(config.names().next().unwrap().method(), Some("Get"));
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn convert_for(
        &self,
        target: impl Into<ConversionTarget>,
        services: &[ServiceDescription],
    ) -> Conversion {
        let mut text = String::new();
        let findings = self.convert_to(target, services, &mut text).unwrap_or_default();
        Conversion { text, findings }
    }

    /// Like [`convert_for`](Self::convert_for), but written as it is made: a large table is never in memory as a whole. Returns the
    /// [findings](Conversion::findings).
    ///
    /// # Errors
    ///
    /// `out` can't be written to.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_table::{ConversionTarget, RetryTable};
    ///
    /// let table = RetryTable::parse(r#"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "60s"}]}"#)?;
    /// let mut text = String::new();
    /// let findings = table.convert_to(ConversionTarget::Envoy, &[], &mut text)?;
    /// assert!(text.contains("max_stream_duration"));
    /// assert!(findings.iter().all(|finding| finding.rule() == "approximated"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert_to(
        &self,
        target: impl Into<ConversionTarget>,
        services: &[ServiceDescription],
        out: &mut dyn fmt::Write,
    ) -> Result<Vec<Finding>, fmt::Error> {
        let target = target.into();
        #[cfg_attr(not(feature = "http"), expect(unused_mut, reason = "HTTP adds to it"))]
        let mut findings = match target {
            ConversionTarget::Table(TableFormat::ServiceConfig) => write_service_config(self, out),
            ConversionTarget::Table(TableFormat::Toml) => write_toml(self, out),
            ConversionTarget::Table(TableFormat::GapicYaml) => write_gapic(self, services, out),
            ConversionTarget::Table(TableFormat::ClientConfig) => write_client_config(self, services, out),
            ConversionTarget::Table(TableFormat::OpenApi) => return Ok(vec![no_document()]),
            ConversionTarget::Envoy => write_envoy(self, out),
            ConversionTarget::Istio => write_istio(self, out),
        }?;
        #[cfg(feature = "http")]
        if let Some(http) = self.http() {
            match target {
                ConversionTarget::Table(TableFormat::Toml) => super::http::add_http(self, http, out)?,
                _ => findings.push(super::http::lost_rules()),
            }
        }
        Ok(findings)
    }
}

/// The finding of a target that is read alone.
fn no_document() -> Finding {
    let message = "a table can't be written as an OpenAPI document";
    Finding::new("not-expressible", Severity::Warning, message).with_help("write TOML")
}

impl RetryTable {
    /// The fields of a gRPC service config other than its methods and throttling, such as `loadBalancingConfig` and
    /// `healthCheckConfig`, as the text of a JSON object. They have no effect here. Of several files, the last one
    /// that has a field applies.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use gax_table::RetryTable;
    ///
    /// let table = RetryTable::parse(r#"{"methodConfig": [], "loadBalancingPolicy": "round_robin"}"#)?;
    /// assert!(table.other_fields().contains(r#""loadBalancingPolicy": "round_robin""#));
    /// # }
    /// # Ok::<(), gax_table::TableError>(())
    /// ```
    #[must_use]
    pub fn other_fields(&self) -> String {
        let config = gather(self);
        let fields = last_of_each(&config.rest).into_iter().map(Field::from).collect();
        let mut text = String::new();
        let _infallible = write_json(Value::Object(fields), &mut text);
        text
    }
}
