//! Whole tables, from text to policies.

mod convert;
mod corpus;
mod goldens;
mod hostile;
mod merge;
mod read;

use crate::{Dialect, Finding, RetryTable};
use std::path::{Path, PathBuf};

/// The table of a text that has a meaning in the dialect.
fn read(dialect: Dialect, text: &str) -> RetryTable {
    RetryTable::reader().dialect(dialect).read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// A service config with one entry, for the method `a.B/C`, that has these further fields.
fn one_entry(fields: &str) -> String {
    format!(r#"{{"methodConfig": [{{"name": [{{"service": "a.B", "method": "C"}}]{fields}}}]}}"#)
}

/// `one_entry` with a retry policy that lacks nothing but for these further fields.
fn one_policy(fields: &str) -> String {
    one_entry(&format!(
        r#", "timeout": "60s", "retryPolicy": {{"initialBackoff": "0.1s", "maxBackoff": "10s",
        "backoffMultiplier": 1.3, "retryableStatusCodes": ["UNAVAILABLE"]{fields}}}"#
    ))
}

/// The rules of a table's findings.
fn rules(table: &RetryTable) -> Vec<&'static str> {
    table.findings().iter().map(Finding::rule).collect()
}

/// The folder of shared test data, from `TONIC_GAX_SHARED` or beside the repository.
fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("TONIC_GAX_SHARED").map_or_else(beside, PathBuf::from);
    let found = folder.join("retry-tables/corpus").is_dir().then_some(folder);
    if found.is_none() {
        eprintln!("skipped: no retry tables to test with (set TONIC_GAX_SHARED to the folder that has them)");
    }
    found
}
