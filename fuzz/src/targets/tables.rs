//! Retry tables, in every format.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_table::lint::Linter;
use gax_table::{ConversionTarget, Dialect, RetryTable, TableFormat};
use std::time::Duration;

/// A table, or an error with a text. Settings are valid, findings say something, and what is written of a table is read again.
pub(super) fn tables(data: &[u8]) {
    let formats = TableFormat::ALL.iter().copied().map(Some).chain([None]);
    for (dialect, format) in
        formats.flat_map(|format| Dialect::ALL.iter().map(move |dialect| (*dialect, format)))
    {
        let table = match RetryTable::reader().dialect(dialect).format(format).read(data) {
            Ok(table) => table,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        for finding in table.findings().iter().chain(&Linter::new().run(&table)) {
            assert!(!finding.to_string().is_empty());
        }
        for name in table.names() {
            if let Some(policy) = table.lookup(name.service(), name.method().unwrap_or("Any")) {
                // By gRPC's rules, every call fails at once with a timeout of 0 s.
                let is_zero = policy.settings().total_timeout() == Some(Duration::ZERO);
                assert!(is_zero || policy.settings().to_builder().build().is_ok(), "{policy:?}");
            }
        }
        for target in ConversionTarget::ALL {
            let conversion = table.convert(*target);
            assert!(conversion.findings().iter().all(|finding| !finding.to_string().is_empty()));
        }
        let toml = table.convert(TableFormat::Toml);
        let again = RetryTable::reader().format(TableFormat::Toml).read(toml.text().as_bytes());
        assert!(again.is_ok(), "{}\n{}", again.unwrap_err(), toml.text());
    }
}
