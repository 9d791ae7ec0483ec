//! Fields of service configs besides retries.

use super::gather::gather;
use super::text::{Field, Value, write_json};
use crate::RetryTable;
use crate::document::last_of_each;

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
