//! Tables as plain data: every method has the settings that its table has for it.

use super::optional_data::shared_with;
use crate::{Dialect, HedgingPolicy, RetryTable, TableReader};
use gax_retry::{MethodPolicies, MethodSettings};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The names that are asked for: those of the table, a method of each of its services that it doesn't name, and names that it has nothing of.
fn asked(table: &RetryTable) -> BTreeSet<(String, String)> {
    let names = table.names().map(|name| (name.service(), name.method().unwrap_or("")));
    let mut asked = BTreeSet::from([("other.Service".to_owned(), "Unnamed".to_owned())]);
    for (service, method) in names.chain(table.named_beside()).filter(|(service, _)| !service.is_empty()) {
        asked.extend([method, "Unnamed", ""].map(|method| (service.to_owned(), method.to_owned())));
    }
    asked
}

/// Returns how many methods were compared.
fn compare(table: &RetryTable, file: &Path) -> usize {
    let policies = MethodPolicies::from(table);
    assert_eq!(policies.own_compatibility(), table.dialect().default_compatibility());
    assert_eq!(policies.own_throttling(), table.throttling());
    let asked = asked(table);
    for (service, method) in &asked {
        let name = format!("{} {:?} {service}/{method}", file.display(), table.dialect());
        let expected = table.lookup(service, method).filter(|policy| policy.entry().is_some());
        let expected = expected.map(|policy| {
            MethodSettings::new(policy.settings().clone(), policy.codes())
                .hedging(policy.hedging().map(HedgingPolicy::to_hedging))
                .wait_for_ready(policy.wait_for_ready())
                .stream_timeouts(policy.wait_timeout(), policy.idle_timeout())
        });
        let path = if method.is_empty() { service.clone() } else { format!("{service}/{method}") };
        assert_eq!(policies.find(&path), expected.as_ref(), "{name}");
        // A service by itself is asked for by closures and HTTP, for which nothing is idempotent by name.
        if !method.is_empty() {
            assert_eq!(policies.is_idempotent(&path), table.idempotent(service, method), "{name}");
        }
    }
    asked.len()
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() { files(&path, into) } else { into.push(path) }
    }
}

fn read(reader: &TableReader, path: &Path) -> Option<RetryTable> {
    reader.clone().read(&std::fs::read(path).ok()?).ok()
}

#[test]
fn every_method_of_every_table_has_its_policy() {
    let folder = "retry-tables";
    let Some(shared) = shared_with(folder) else { return };
    let mut paths = Vec::new();
    files(&shared.join(folder), &mut paths);
    let readers = [Dialect::GaxJava, Dialect::Grpc].map(|dialect| RetryTable::reader().dialect(dialect));
    let readers: Vec<_> = readers.into_iter().chain([RetryTable::reader()]).collect();
    let tables = paths
        .iter()
        .flat_map(|path| readers.iter().filter_map(move |reader| Some((path, read(reader, path)?))));
    let (mut count, mut methods) = (0, 0);
    for (path, table) in tables {
        count += 1;
        methods += compare(&table, path);
    }
    assert!(count > 1000 && methods > 10_000, "{count} tables, {methods} methods");
}

#[cfg(feature = "toml")]
#[test]
fn the_most_specific_word_on_idempotency_counts() {
    let words = ["", "idempotent = true", "idempotent = false"];
    let settings = ["", "timeout = \"5s\"\ncodes = [\"UNAVAILABLE\"]"];
    // Each of the three names with and without settings, with each word, in both orders.
    let entries: Vec<_> =
        settings.iter().flat_map(|own| words.map(|word| format!("{own}\n{word}"))).collect();
    for all in &entries {
        for service in &entries {
            for method in &entries {
                let entry = |name: &str, fields: &str| {
                    if fields.trim().is_empty() {
                        String::new()
                    } else {
                        format!("[[entry]]\nfor = [\"{name}\"]\n{fields}\n")
                    }
                };
                let parts = [entry("*", all), entry("a.B", service), entry("a.B/C", method)];
                let reversed: Vec<_> = parts.iter().rev().cloned().collect();
                for text in [parts.concat(), reversed.concat()] {
                    if let Ok(table) = RetryTable::parse(&text) {
                        compare(&table, Path::new(&text));
                    }
                    let tables: Result<Vec<_>, _> =
                        parts.iter().map(|part| RetryTable::parse(part)).collect();
                    if let Some(table) = tables.ok().and_then(|tables| RetryTable::merged(tables).ok()) {
                        compare(&table, Path::new(&text));
                    }
                }
            }
        }
    }
}
