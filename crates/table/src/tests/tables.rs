//! Tables that most of these tests are about.

use crate::tests::optional_data::shared_with;
use crate::{Dialect, Finding, RetryTable};
use std::path::PathBuf;

/// The table of a text that has a meaning in the dialect.
pub(in crate::tests) fn read(dialect: Dialect, text: &str) -> RetryTable {
    RetryTable::reader().dialect(dialect).read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// A service config with one entry, for the method `a.B/C`, that has these further fields.
pub(in crate::tests) fn one_entry(fields: &str) -> String {
    format!(r#"{{"methodConfig": [{{"name": [{{"service": "a.B", "method": "C"}}]{fields}}}]}}"#)
}

/// `one_entry` with a retry policy that lacks nothing but for these further fields.
pub(in crate::tests) fn one_policy(fields: &str) -> String {
    one_entry(&format!(
        r#", "timeout": "60s", "retryPolicy": {{"initialBackoff": "0.1s", "maxBackoff": "10s",
        "backoffMultiplier": 1.3, "retryableStatusCodes": ["UNAVAILABLE"]{fields}}}"#
    ))
}

/// The rules of a table's findings.
pub(in crate::tests) fn rules(table: &RetryTable) -> Vec<&'static str> {
    table.findings().iter().map(Finding::rule).collect()
}

/// The folder of optional data, if it has retry tables.
pub(in crate::tests) fn shared() -> Option<PathBuf> {
    shared_with("retry-tables/corpus")
}
