//! What service configs say beside retries.

use super::gather::gather;
use super::text::{json_text, value};
use crate::RetryTable;
use crate::document::{Kind, Member};

impl RetryTable {
    /// What a gRPC service config says beside its methods and throttling, such as `loadBalancingConfig` and
    /// `healthCheckConfig`, as the text of a JSON object. Nothing here acts on it. Of several files the last one that
    /// has a field counts.
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
        let mut fields = Vec::new();
        for field in gather(self).rest {
            fields.retain(|other: &Member| other.key != field.key);
            fields.push(field);
        }
        json_text(&value(Kind::Object(fields)))
    }
}
