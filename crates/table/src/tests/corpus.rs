//! The published service configs, where they are at hand.

use super::shared;
use crate::{Dialect, RetryTable};
use std::collections::BTreeMap;
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

pub(super) fn corpus() -> Option<Vec<PathBuf>> {
    let mut paths = Vec::new();
    files(&shared()?.join("retry-tables/corpus"), &mut paths);
    paths.sort();
    Some(paths)
}

#[test]
fn no_file_of_the_corpus_is_an_error() {
    let Some(paths) = corpus() else { return };
    assert_eq!(paths.len(), 467);
    let mut entries = 0;
    let mut rules = BTreeMap::new();
    for path in &paths {
        let table = RetryTable::from_path(path).unwrap_or_else(|error| panic!("{error}"));
        entries += table.entry_count();
        for finding in table.findings() {
            *rules.entry(finding.rule()).or_insert(0) += 1;
        }
    }
    assert_eq!(entries, 979);
    let rules: Vec<_> = rules.into_iter().collect();
    assert_eq!(rules, [("duplicate-name", 4), ("no-codes", 12), ("no-max-attempts", 196)]);
}

#[test]
fn java_reads_all_of_the_corpus_too() {
    let Some(paths) = corpus() else { return };
    for path in &paths {
        let table = RetryTable::reader().dialect(Dialect::GaxJava).read_path(path);
        let table = table.unwrap_or_else(|error| panic!("{error}"));
        let dropped = table.findings().iter().find(|finding| finding.rule() == "dropped-file");
        assert_eq!(dropped, None);
    }
}

#[test]
fn grpc_refuses_a_quarter_of_the_corpus() {
    let Some(paths) = corpus() else { return };
    let mut refused = BTreeMap::new();
    for path in &paths {
        if let Err(error) = RetryTable::reader().dialect(Dialect::Grpc).read_path(path) {
            let reason = ["has no maxAttempts", "names no codes to retry", "occurs twice"]
                .into_iter()
                .find(|reason| error.message().contains(reason));
            *refused.entry(reason.unwrap_or(error.message()).to_owned()).or_insert(0) += 1;
        }
    }
    let refused: Vec<_> = refused.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(refused, [("has no maxAttempts", 113), ("names no codes to retry", 2), ("occurs twice", 2)]);
}

/// So that the defaults of delays change nothing in what is shown of it, and in no difference.
#[test]
fn the_corpus_leaves_no_delay_to_a_default() {
    let Some(paths) = corpus() else { return };
    let mut retried = 0;
    for path in &paths {
        let table = RetryTable::from_path(path).unwrap_or_else(|error| panic!("{error}"));
        let entries = (0..table.entry_count()).filter_map(|index| table.entry(index));
        for entry in entries.filter(|entry| !entry.codes().is_empty()) {
            let settings = entry.settings();
            let written = settings.initial_retry_delay().is_some()
                && settings.retry_delay_multiplier().is_some()
                && settings.max_retry_delay().is_some();
            assert!(written, "{}", path.display());
            retried += 1;
        }
    }
    assert_eq!(retried, 564);
}

/// A service config with every duration and number in one form.
pub(super) fn normal(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => Value::from(number.as_f64()),
        Value::String(text) if text.ends_with("0s") && text.contains('.') => {
            let short = text.trim_end_matches('s').trim_end_matches('0').trim_end_matches('.');
            Value::from(format!("{short}s"))
        }
        Value::Array(elements) => elements.iter().map(normal).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), normal(value))).collect(),
        other => other.clone(),
    }
}

#[cfg(feature = "toml")]
#[test]
fn all_of_the_corpus_goes_to_toml_and_back_without_loss() {
    use crate::TableFormat;
    let Some(paths) = corpus() else { return };
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let table = RetryTable::parse(&text).unwrap();
        let toml = table.convert(TableFormat::Toml);
        assert_eq!(toml.findings(), []);
        let from_toml =
            RetryTable::parse(toml.text()).unwrap_or_else(|error| panic!("{error}\n{}", toml.text()));
        let back = from_toml.convert(TableFormat::ServiceConfig);
        assert_eq!(back.findings(), []);
        let value = |text: &str| normal(&serde_json::from_str(text).unwrap());
        assert_eq!(value(back.text()), value(&text), "{}", path.display());
        for dialect in Dialect::ALL {
            let read = |text: &str| RetryTable::reader().dialect(*dialect).read(text.as_bytes());
            let (Ok(json), Ok(toml)) = (read(&text), read(toml.text())) else {
                assert!(read(&text).is_err() && read(toml.text()).is_err(), "{}", path.display());
                continue;
            };
            for name in table.names() {
                let (service, method) = (name.service(), name.method().unwrap_or("AnyOther"));
                let (json, toml) =
                    (json.lookup(service, method).unwrap(), toml.lookup(service, method).unwrap());
                assert_eq!((json.settings(), json.codes()), (toml.settings(), toml.codes()));
                assert_eq!((json.codes_key(), json.params_key()), (toml.codes_key(), toml.params_key()));
            }
        }
    }
}
