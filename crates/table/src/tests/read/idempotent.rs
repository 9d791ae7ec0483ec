use super::{read, rules};
use crate::{Dialect, PolicyField, RetryTable};
use gax_retry::{Code, Hedging, RetrySettings};
use std::time::Duration;

const TABLE: &str = r#"
[[entry]]
for = ["a.B"]
timeout = "5s"
codes = ["UNAVAILABLE"]
idempotent = true

[[entry]]
for = ["a.B/Create"]
timeout = "5s"

[[entry]]
for = ["a.B/Change"]
inherit = true
codes = ["ABORTED"]

[[entry]]
for = ["a.B/Pay"]
inherit = true
idempotent = false

[[entry]]
for = ["a.B/Delete", "x.Y", "x.Y/Z"]
idempotent = false
"#;

fn parse(text: &str) -> RetryTable {
    read(Dialect::AsWritten, text)
}

fn said(table: &RetryTable, name: &str) -> Option<bool> {
    let (service, method) = name.split_once('/').unwrap();
    let word = table.idempotent(service, method);
    let policy = table.lookup(service, method);
    assert!(policy.is_none_or(|policy| policy.idempotent() == word), "{name}");
    word
}

#[test]
fn an_entry_says_whether_its_methods_are_idempotent() {
    let table = parse(TABLE);
    for (name, word) in [
        ("a.B/Get", Some(true)),
        // Its own entry replaces the service's.
        ("a.B/Create", None),
        ("a.B/Change", Some(true)),
        ("a.B/Pay", Some(false)),
        ("a.B/Delete", Some(false)),
        ("x.Y/Z", Some(false)),
        ("x.Y/Other", Some(false)),
        ("other.Service/Get", None),
    ] {
        assert_eq!(said(&table, name), word, "{name}");
    }
    let origin = |name: &str| {
        let policy = table.lookup("a.B", name).unwrap();
        policy.origin_of(PolicyField::Idempotent).map(|origin| (origin.line(), origin.column()))
    };
    assert_eq!(origin("Get"), Some((6, 14)));
    assert_eq!(origin("Pay"), Some((20, 14)));
    assert_eq!(origin("Create"), None);
}

#[test]
fn an_entry_that_says_nothing_else_hides_nothing() {
    let table = parse(TABLE);
    let delete = table.lookup("a.B", "Delete").unwrap();
    assert_eq!((delete.entry(), delete.codes().to_string()), (Some(0), "UNAVAILABLE".to_owned()));
    assert_eq!(table.entry(0).unwrap().idempotent(), Some(true), "an entry by its number has its own word");
    assert!(table.lookup("x.Y", "Z").is_none());
    assert_eq!(table.entry_count(), 4);
    assert_eq!(table.named_beside(), [("a.B", "Delete"), ("x.Y", ""), ("x.Y", "Z")]);
    let names: Vec<String> = table.names_beside().map(|name| name.to_string()).collect();
    assert_eq!(names, ["a.B/Delete", "x.Y", "x.Y/Z"]);
    assert!(table.names_beside().all(|name| name.entry().is_none()));
}

#[test]
fn what_is_said_in_several_entries_of_a_method_adds_up() {
    let table = parse(
        r#"
        [[entry]]
        for = ["a.B/C"]
        polling = { initial_delay = "5s" }
        [[entry]]
        for = ["a.B/C"]
        idempotent = true
        [[entry]]
        for = ["a.B/C"]
        batching = { element_count_threshold = 1, request_byte_threshold = 1, delay_threshold = "1s" }
        "#,
    );
    assert_eq!(said(&table, "a.B/C"), Some(true));
    assert!(table.polling("a.B", "C").is_some() && table.batching("a.B", "C").is_some());
}

const GOOGLE: &str = r#"{"methodConfig": [{"name": [{"service": "a.B", "method": "C"}], "timeout": "5s"}]}"#;

#[test]
fn the_later_of_two_tables_has_the_last_word() {
    let merged = |texts: [&str; 2]| RetryTable::merged(texts.map(parse)).unwrap();
    let word = |name: &str, value: bool| format!("[[entry]]\nfor = [\"{name}\"]\nidempotent = {value}\n");
    let full = |name: &str, value: bool| format!("{}timeout = \"5s\"\n", word(name, value));
    for (first, second, expected) in [
        (GOOGLE.to_owned(), word("a.B/C", true), Some(true)),
        (GOOGLE.to_owned(), word("a.B", true), Some(true)),
        (GOOGLE.to_owned(), word("*", true), Some(true)),
        (word("a.B/C", true), GOOGLE.to_owned(), Some(true)),
        (word("a.B/C", true), word("a.B/C", false), Some(false)),
        (word("a.B/C", true), full("a.B/C", false), Some(false)),
        (full("a.B/C", false), word("a.B/C", true), Some(true)),
        // A method's own word goes before that of its service, whichever comes first.
        (word("a.B/C", true), full("a.B", false), Some(true)),
        (full("a.B/C", true), word("a.B", false), Some(true)),
        // A later entry replaces an earlier one.
        (full("a.B/C", true), GOOGLE.to_owned(), None),
    ] {
        assert_eq!(said(&merged([&first, &second]), "a.B/C"), expected, "{first}\n{second}");
    }
}

#[test]
fn the_word_counts_in_every_dialect() {
    for dialect in Dialect::ALL {
        let table = read(*dialect, "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"5s\"\nidempotent = true\n");
        assert_eq!(said(&table, "a.B/C"), Some(true), "{dialect}");
        assert_eq!(rules(&table), [""; 0], "{dialect}");
    }
}

#[test]
fn a_mistake_has_its_place() {
    let error = |value: &str| {
        let text = format!("[[entry]]\nfor = [\"a.B\"]\nidempotent = {value}\n");
        RetryTable::parse(&text).unwrap_err().to_string()
    };
    assert_eq!(
        error("\"yes\""),
        "line 3, column 14: \"yes\" is a string, but idempotent is true or false; write true or false"
    );
    let misspelt = parse("[[entry]]\nfor = [\"a.B\"]\nidempotant = true\n");
    assert_eq!(
        misspelt.findings()[0].to_string(),
        "line 3, column 1: warning[unknown-field]: idempotant is not a field of an entry; did you mean \"idempotent\"?"
    );
}

#[test]
fn hedging_that_hedges_nothing_is_a_finding() {
    let found = |fields: &str| {
        let table =
            parse(&format!("[[entry]]\nfor = [\"a.B\"]\ntimeout = \"5s\"\nhedging = {{ {fields} }}\n"));
        table.findings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("max_attempts = 2, delay = \"1s\", percentile = 0.95"), [""; 0]);
    assert_eq!(
        found("max_attempts = 1"),
        [
            "line 4, column 28: warning[max-attempts-below-2]: with max_attempts 1 nothing is hedged; write 2 or more"
        ]
    );
    assert_eq!(
        found("max_attempts = 0"),
        [
            "line 4, column 28: warning[max-attempts-below-2]: max_attempts 0 is treated as absent; leave it out"
        ]
    );
    assert_eq!(
        found("delay = \"1s\""),
        [
            "line 4, column 11: note[no-max-attempts]: the entry's hedging has no max_attempts, so there is one hedge; write one \
          from 2 to 5"
        ]
    );
}

#[test]
fn a_table_made_in_code_hedges_what_it_calls_idempotent() {
    let settings = || RetrySettings::logical_timeout(Duration::from_secs(5));
    let hedging = Hedging::new(2);
    let method = || RetryTable::builder().method("/a.B/C", settings(), Code::Unavailable);
    let message = "a.B/C is hedged, and nothing says that it is idempotent; add idempotent(true) to the entry, or \
                   allow_non_idempotent() to the hedging";
    for (table, expected) in [
        (method().hedged(hedging), Err(message)),
        (method().idempotent(false).hedged(hedging), Err(message)),
        (
            method().hedged(hedging).service("a.B", settings(), Code::Unavailable).idempotent(true),
            Err(message),
        ),
        (method().idempotent(true).hedged(hedging), Ok(Some(true))),
        (method().hedged(hedging).idempotent(true), Ok(Some(true))),
        (method().hedged(hedging.allow_non_idempotent()), Ok(None)),
        (method().hedged(hedging).hedged(hedging.allow_non_idempotent()), Ok(None)),
        (method().idempotent(false), Ok(Some(false))),
        // Without an entry there is nothing to say it of.
        (RetryTable::builder().idempotent(true).hedged(hedging), Ok(None)),
    ] {
        let word = table.build().map(|table| table.idempotent("a.B", "C")).map_err(|error| error.to_string());
        assert_eq!(word, expected.map_err(str::to_owned));
    }
}
