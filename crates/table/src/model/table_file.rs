//! One file's part of a table.

use super::policy::{Entry, EntryName};
use super::suppression::Suppression;
use crate::{Finding, SourceLocation, TableError, TableFormat};
use gax_retry::{BatchingSettings, CodeSet, RetrySettings, RetryThrottling};
use std::collections::HashMap;
use std::sync::Arc;

/// The part of a table that is from one file, or one builder.
#[derive(Debug, Default)]
pub(crate) struct TableFile {
    /// `None`: a builder.
    pub(crate) format: Option<TableFormat>,
    /// Where its text begins.
    #[cfg(feature = "lint")]
    pub(crate) start: Option<SourceLocation>,
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) throttling: Option<RetryThrottling>,
    pub(crate) throttling_origin: Option<SourceLocation>,
    pub(crate) services: Vec<Arc<ServiceDefinitions>>,
    pub(crate) suppressions: Vec<Suppression>,
    /// The file as it was written, for writing it in another form.
    #[cfg(feature = "convert")]
    pub(crate) config: Option<super::written::ServiceConfig>,
    pub(crate) extras: HashMap<Arc<str>, HashMap<Arc<str>, MethodExtras>>,
    /// The names of the entries that say nothing about retries.
    pub(crate) beside: Vec<Arc<[EntryName]>>,
    pub(crate) unusable: Vec<UnusableEntry>,
    #[cfg(feature = "http")]
    pub(crate) http: Option<super::http_table::HttpTable>,
    pub(crate) findings: Vec<Finding>,
}

#[cfg(feature = "lint")]
impl TableFile {
    /// Returns whether it says nothing about any method or request.
    pub(crate) fn is_empty(&self) -> bool {
        #[cfg(feature = "http")]
        if self.http.is_some() {
            return false;
        }
        self.entries.is_empty() && self.beside.is_empty() && self.unusable.is_empty()
    }
}

/// The definitions that a file names for a service, used or not.
#[derive(Debug)]
pub(crate) struct ServiceDefinitions {
    pub(crate) service: Arc<str>,
    pub(crate) codes: Vec<(Arc<str>, CodeSet)>,
    pub(crate) params: Vec<(Arc<str>, RetrySettings)>,
}

/// The settings of a method next to its retries. In boxes: a file may say little of thousands of methods.
#[derive(Debug, Default)]
pub(crate) struct MethodExtras {
    pub(crate) polling: Option<Box<RetrySettings>>,
    pub(crate) batching: Option<Box<BatchingSettings>>,
    pub(crate) batch_descriptor: Option<Box<BatchDescriptor>>,
    /// The fields of an entry that are not about retries; others have it themselves.
    pub(crate) idempotent: Option<bool>,
}

/// An entry of a method whose names lead nowhere.
#[derive(Debug)]
pub(crate) struct UnusableEntry {
    pub(crate) service: Arc<str>,
    pub(crate) method: Arc<str>,
    /// `true` if the file keeps the method out of clients.
    pub(crate) is_disabled: bool,
    pub(crate) error: TableError,
}

/// The `batch_descriptor` of a method in GAPIC YAML: how its requests are merged into one, and its response is split.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "yaml")] {
/// use gax_table::{RetryTable, TableFormat};
///
/// let yaml = r#"
/// config_schema_version: 2.0.0
/// interfaces:
/// - name: a.Log
///   methods:
///   - name: Write
///     batching:
///       thresholds: {element_count_threshold: 10, request_byte_threshold: 1000, delay_threshold_millis: 50}
///       batch_descriptor: {batched_field: entries, discriminator_fields: [log_name]}
/// "#;
/// let table = RetryTable::reader().format(TableFormat::GapicYaml).read(yaml.as_bytes())?;
/// let descriptor = table.batch_descriptor("a.Log", "Write").unwrap();
/// assert_eq!(descriptor.batched_field(), "entries");
/// assert_eq!(descriptor.discriminator_fields().collect::<Vec<_>>(), ["log_name"]);
/// # }
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchDescriptor {
    pub(crate) batched_field: Arc<str>,
    pub(crate) discriminator_fields: Vec<Arc<str>>,
    pub(crate) subresponse_field: Option<Arc<str>>,
}

impl BatchDescriptor {
    gax_text::getters! { self:
        /// The repeated field of requests whose entries are put together.
        pub batched_field: &str = &self.batched_field;

        /// The fields of requests that must be equal in all requests of a batch.
        pub discriminator_fields: impl Iterator<Item = &str> = self.discriminator_fields.iter().map(AsRef::as_ref);

        /// The repeated field of the response that has an entry for each entry of the request; `None`: callers get an empty response.
        pub subresponse_field: Option<&str> = self.subresponse_field.as_deref();
    }
}
