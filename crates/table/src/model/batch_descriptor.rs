//! How requests of a method are merged into one.

use std::sync::Arc;

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
