//! Published tables in every other form.

use super::read;
use crate::tests::corpus::{corpus, normal};
use crate::{ConversionTarget, Dialect, RetryTable, TableFormat};
use std::collections::BTreeMap;

#[test]
fn service_configs_stay_what_they_are() {
    let Some(paths) = corpus() else { return };
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let conversion = read(Dialect::AsWritten, &text).convert(TableFormat::ServiceConfig);
        assert_eq!(conversion.findings(), []);
        let value = |text: &str| normal(&serde_json::from_str(text).unwrap());
        assert_eq!(value(conversion.text()), value(&text), "{}", path.display());
    }
}

/// Of how many others a finding is true: `max_attempts of a.B/Get and 3 more can't be expressed in Envoy`.
fn others(message: &str) -> usize {
    let more = message.split_once(" more can't be expressed").map_or("", |(before, _)| before);
    more.rsplit_once(" and ").and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
}

/// How many files of the corpus lose nothing, and how often each kind of loss comes, by target. The
/// documentation has these numbers.
#[test]
fn losses_of_the_corpus_are_known() {
    let Some(paths) = corpus() else { return };
    let mut lossless = BTreeMap::new();
    let mut parts = BTreeMap::new();
    for path in paths {
        let table = RetryTable::from_path(&path).unwrap();
        for target in ConversionTarget::ALL {
            let conversion = table.convert(*target);
            let lost: Vec<_> =
                conversion.findings().iter().filter(|finding| finding.rule() == "not-expressible").collect();
            *lossless.entry(target.as_str()).or_insert(0) += usize::from(lost.is_empty());
            for finding in lost {
                let (part, _) = finding.message().split_once(" of ").unwrap();
                let part = part.trim_end_matches(|last: char| last.is_ascii_digit() || " .".contains(last));
                *parts.entry((target.as_str(), part.to_owned())).or_insert(0) +=
                    1 + others(finding.message());
            }
        }
    }
    let lossless: Vec<_> = lossless.into_iter().collect();
    let expected =
        [("client-config", 94), ("envoy", 70), ("gapic", 95), ("grpc", 467), ("istio", 58), ("toml", 467)];
    assert_eq!(lossless, expected);
    let parts: Vec<_> =
        parts.iter().map(|((target, part), count)| (*target, part.as_str(), *count)).collect();
    assert_eq!(
        parts,
        [
            ("client-config", "a call without a timeout", 1),
            ("client-config", "a default for methods", 948),
            ("client-config", "max_attempts", 1988),
            ("envoy", "retry_delay_multiplier", 4486),
            ("gapic", "a default for methods", 948),
            ("gapic", "max_attempts", 1988),
            ("istio", "a retry on ABORTED", 24),
            ("istio", "a retry on UNKNOWN", 106),
            ("istio", "the back-off", 4615),
        ]
    );
}

/// Of the methods that a table names, GAPIC YAML has the same policies, but for the number of attempts.
#[cfg(feature = "yaml")]
fn reads_back(table: &RetryTable) {
    let conversion = table.convert(TableFormat::GapicYaml);
    let back = RetryTable::reader().read(conversion.text().as_bytes());
    let back = back.unwrap_or_else(|error| panic!("{error}\n{}", conversion.text()));
    for name in table.names() {
        let (service, Some(method)) = (name.service(), name.method()) else { continue };
        if service.is_empty() {
            continue;
        }
        let one = table.lookup(service, method).unwrap();
        let Some(other) = back.lookup(service, method) else { panic!("{service}/{method} is lost") };
        assert_eq!(one.codes(), other.codes(), "{service}/{method}");
        let settings = one.settings();
        assert_eq!(
            (settings.total_timeout(), settings.initial_retry_delay(), settings.max_retry_delay()),
            (
                other.settings().total_timeout(),
                other.settings().initial_retry_delay(),
                other.settings().max_retry_delay()
            ),
            "{service}/{method}"
        );
        assert_eq!(table.polling(service, method), back.polling(service, method));
    }
}

#[cfg(feature = "yaml")]
#[test]
fn all_of_the_corpus_reads_back_from_gapic_yaml() {
    let Some(paths) = corpus() else { return };
    for path in paths {
        reads_back(&RetryTable::from_path(&path).unwrap());
    }
}

#[cfg(feature = "yaml")]
#[test]
fn all_gapic_yaml_stays_what_it_is() {
    fn files(folder: &std::path::Path, into: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { files(&path, into) } else { into.push(path) }
        }
    }
    let Some(shared) = super::shared() else { return };
    let mut paths = Vec::new();
    files(&shared.join("retry-tables/gapic-yaml-v1"), &mut paths);
    let mut count = 0;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml")) {
        let Ok(table) = RetryTable::from_path(path) else { continue };
        let conversion = table.convert(TableFormat::GapicYaml);
        for finding in conversion.findings() {
            assert!(finding.message().starts_with("batching of "), "{finding}");
        }
        let back = read(Dialect::AsWritten, conversion.text());
        for name in table.names() {
            let (service, method) = (name.service(), name.method().unwrap());
            let (one, other) =
                (table.lookup(service, method).unwrap(), back.lookup(service, method).unwrap());
            assert_eq!((one.settings(), one.codes()), (other.settings(), other.codes()));
            assert_eq!((one.codes_key(), one.params_key()), (other.codes_key(), other.params_key()));
        }
        reads_back(&table);
        count += 1;
    }
    assert_eq!(count, 30);
}
