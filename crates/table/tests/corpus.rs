//! The linter against tables that others got wrong, and tables that are right: `corpus/README.md` has them all.

#![cfg(all(feature = "lint", feature = "yaml", feature = "toml", feature = "http"))]
#![expect(clippy::unwrap_used, reason = "a helper of tests fails the test that calls it")]

use gax_retry::MethodKind;
use gax_table::lint::Linter;
use gax_table::{Finding, MethodDescription, RetryTable, ServiceDescription, Severity};
use std::path::PathBuf;

const INDEX: &str = include_str!("corpus/README.md");

/// The cells of the rows below a heading.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let section = INDEX.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// The API in `corpus/library.proto`.
fn library() -> ServiceDescription {
    let method =
        |name: &str, verb: &str| MethodDescription::new(name, MethodKind::Unary).with_http_verb(verb);
    ServiceDescription::new("example.v1.Library")
        .with_method(method("GetBook", "GET"))
        .with_method(method("ListBooks", "GET"))
        .with_method(method("CreateBook", "POST"))
        .with_method(method("UpdateBook", "PATCH"))
        .with_method(method("DeleteBook", "DELETE"))
        .with_method(method("BorrowBook", "POST"))
        .with_method(method("ReindexBooks", "POST").returning_operation())
        .with_method(MethodDescription::new("WatchBooks", MethodKind::ServerStreaming))
        .with_method(MethodDescription::new("UploadBook", MethodKind::ClientStreaming))
}

/// The rule, the line and the text of each finding that warns of a table; an error of the reader is one.
fn warnings(folder: &str, file: &str) -> (String, Vec<(String, usize, String)>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let found = match RetryTable::from_path(&path) {
        Err(error) => {
            vec![Finding::new("unreadable-table", Severity::Error, error.to_string()).at_error(&error)]
        }
        Ok(table) if text.contains("example.v1.") => Linter::new().services([library()]).run(&table),
        Ok(table) => Linter::new().run(&table),
    };
    let found = found.into_iter().filter(|finding| finding.severity() >= Severity::Warning).map(|finding| {
        let line = finding.origin().map_or(0, gax_table::SourceLocation::line);
        (finding.rule().to_owned(), line, finding.message().to_owned())
    });
    (text, found.collect())
}

#[test]
fn mistakes_of_others_are_found_where_they_are() {
    let rows = rows("Problems");
    assert_eq!(rows.len(), 50);
    let mut missed = Vec::new();
    for row in rows {
        let (file, place, rule) = (row[0], row[1].trim_matches('`'), row[3].trim_matches('`'));
        let (text, found) = warnings("problems", file);
        let line = 1 + text.lines().position(|line| line.contains(place)).unwrap();
        if rule == "-" {
            missed.push(file);
        } else {
            let is_found = found.iter().any(|(of, at, _)| of == rule && *at == line);
            assert!(is_found, "{file}:{line} {rule}: {found:?}");
        }
    }
    // In these forms zero is not set: polls begin after the default delay, and calls end after 30 s.
    assert_eq!(missed, ["polled_without_delay.yaml", "zero_timeouts.json"]);
}

#[test]
fn nothing_warns_of_tables_that_are_right() {
    let rows = rows("Good tables");
    assert_eq!(rows.len(), 30);
    for row in rows {
        let (_, mut found) = warnings("good", row[0]);
        // True of some of Google's own tables, and harmless.
        found.retain(|(rule, ..)| rule != "cap-above-timeout" && rule != "deadline-retry-unreachable");
        assert!(found.is_empty(), "{}: {found:?}", row[0]);
    }
}
