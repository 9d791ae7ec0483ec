//! When a batch is full, and how many elements may be outstanding: numbers that two forms have.

use crate::TableError;
use crate::document::Node;
use crate::values::Values;
use gax_retry::{BatchingSettings, BatchingSettingsBuilder};

/// Reads both thresholds, which are needed, and both limits: of elements and of bytes.
pub(super) fn read_thresholds(
    values: &Values<'_>,
    [elements, bytes]: [Option<&Node>; 2],
    [max_elements, max_bytes]: [(&str, Option<&Node>); 2],
    missing: impl Fn(&str) -> TableError,
) -> Result<BatchingSettingsBuilder, TableError> {
    let whole = |name: &str, node: Option<&Node>| {
        node.map(|node| values.whole(node, name).map(|number| number.value)).transpose()
    };
    let needed = |name: &str, node| whole(name, node)?.ok_or_else(|| missing(name));
    let mut settings = BatchingSettings::builder()
        .element_count_threshold(needed("element_count_threshold", elements)?)
        .request_byte_threshold(needed("request_byte_threshold", bytes)?);
    if let Some(limit) = whole(max_elements.0, max_elements.1)? {
        settings = settings.max_outstanding_elements(limit);
    }
    if let Some(limit) = whole(max_bytes.0, max_bytes.1)? {
        settings = settings.max_outstanding_bytes(limit);
    }
    Ok(settings)
}
