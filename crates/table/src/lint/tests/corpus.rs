//! The published service configs, where they are at hand: what the rules find there that need no services.

use crate::RetryTable;
use crate::lint::{Linter, sibling_drift};
use crate::tests::optional_data::shared_with;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            files(&path, into);
        } else if path.to_string_lossy().ends_with("_grpc_service_config.json") {
            into.push(path);
        }
    }
}

fn corpus() -> Option<Vec<PathBuf>> {
    let tables = "retry-tables/corpus";
    let mut paths = Vec::new();
    files(&shared_with(tables)?.join(tables), &mut paths);
    paths.sort();
    Some(paths)
}

/// The counts of docs/src/lint.md. One file, compute/v1beta, is not in the published counts: they are one
/// less for `no-max-attempts` and `deadline-retry-unreachable`.
#[test]
fn the_rules_find_what_is_known_of_the_corpus() {
    let Some(paths) = corpus() else { return };
    let mut counts: BTreeMap<&str, (usize, BTreeSet<&Path>)> = BTreeMap::new();
    for path in &paths {
        let table = RetryTable::from_path(path).unwrap_or_else(|error| panic!("{error}"));
        for finding in Linter::new().run(&table) {
            assert!(super::super::rules().any(|rule| rule.id() == finding.rule()), "{finding}");
            assert!(finding.help().is_some() && finding.origin().is_some(), "{finding}");
            let (count, files) = counts.entry(finding.rule()).or_default();
            *count += 1;
            files.insert(path);
        }
    }
    let counts: Vec<_> =
        counts.into_iter().map(|(rule, (count, files))| (rule, count, files.len())).collect();
    assert_eq!(
        counts,
        [
            ("aborted-transaction", 1, 1),
            ("cap-above-timeout", 35, 23),
            ("cap-equals-timeout", 147, 106),
            ("deadline-retry-unreachable", 197, 137),
            ("duplicate-name", 4, 3),
            ("empty-table", 1, 1),
            ("gentle-backoff-on-resource-exhausted", 15, 8),
            ("internal-or-unknown-retried", 50, 36),
            ("long-unary-timeout", 32, 21),
            ("malformed-name", 84, 13),
            ("max-attempts-above-5", 1, 1),
            ("mixin-name", 38, 24),
            ("no-codes", 12, 8),
            ("no-max-attempts", 196, 113),
            ("no-timeout", 1, 1),
            ("risky-code-in-service-default", 26, 24),
            ("same-settings-two-entries", 116, 35),
            ("short-timeout", 1, 1),
        ]
    );
}

#[test]
fn the_versions_of_an_api_drift_apart() {
    let Some(paths) = corpus() else { return };
    let tables: Vec<RetryTable> = paths
        .iter()
        .map(|path| RetryTable::from_path(path).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    let findings = sibling_drift(&tables);
    let in_codes = findings.iter().filter(|finding| finding.message().contains(": codes ")).count();
    assert_eq!((findings.len(), in_codes), (211, 179));
}
