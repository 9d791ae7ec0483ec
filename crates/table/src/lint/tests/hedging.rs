use super::*;
use crate::lint::Linter;
use crate::{IdempotencyLevel, Severity};

const TABLE: &str = r#"
[[entry]]
for = ["a.B/Get", "a.B/Create", "a.B/Change", "a.B/Delete", "a.B/Reserve", "a.B/Stream"]
timeout = "5s"
hedging = { max_attempts = 2, delay = "1s", non_fatal_codes = ["UNAVAILABLE"] }

[[entry]]
for = ["a.B/Reserve"]
idempotent = true
"#;

fn services() -> Vec<ServiceDescription> {
    let method = |name: &str| MethodDescription::new(name, MethodKind::Unary);
    let service = ServiceDescription::new("a.B")
        .with_method(method("Get"))
        .with_method(method("Create"))
        .with_method(method("Change").with_idempotency(IdempotencyLevel::Idempotent))
        .with_method(method("Delete"))
        .with_method(method("Reserve").with_http_verb("POST"))
        .with_method(MethodDescription::new("Stream", MethodKind::ClientStreaming));
    vec![service]
}

fn messages(text: &str, services: &[ServiceDescription]) -> Vec<String> {
    let table = RetryTable::parse(text).unwrap();
    let found = if services.is_empty() { Linter::new().run(&table) } else { findings(&table, services) };
    found.iter().map(|finding| format!("{}: {}", finding.rule(), finding.message())).collect()
}

/// Its hedges may well have the time that a retry has not.
#[test]
fn a_short_timeout_says_nothing_of_retries_where_there_are_none() {
    let short = "short-timeout: a timeout of 2s leaves little time for a slow reply";
    let hedged =
        "[[entry]]\nfor = [\"a.B/Get\"]\ntimeout = \"2s\"\nhedging = { max_attempts = 2, delay = \"1s\" }\n";
    assert_eq!(messages(hedged, &[]), [short]);
    let retried = hedged.replace("hedging = {", "codes = [\"UNAVAILABLE\"]\nmax_attempts = 2\n#");
    assert_eq!(messages(&retried, &[]), [format!("{short}, and none for a retry")]);
}

#[test]
fn a_write_that_is_hedged_is_a_finding_unless_the_table_calls_it_idempotent() {
    let write = "hedged-write: a.B/Create may change something and is hedged, so that it may be carried out several times at once";
    let others = [
        write.replace("Create may change", "Delete removes"),
        write.replace("Create may change something", "Stream may change something (neither its name nor an annotation says that it only reads)"),
        "policy-on-client-stream: a.B/Stream sends a stream, which is sent again only if the program buffers it: without \
         `replay_streams` its retry policy has no effect".to_owned(),
    ];
    let all =
        |first: &[&str]| [first.iter().map(|line| (*line).to_owned()).collect(), others.to_vec()].concat();
    assert_eq!(messages(TABLE, &services()), all(&[write]));
    assert_eq!(messages(TABLE, &[]), [""; 0]);
    let without_word = TABLE.replace(
        "idempotent = true",
        "batching = { element_count_threshold = 2, request_byte_threshold = 9, delay_threshold = \"1s\" }",
    );
    let mut found = messages(&without_word, &services());
    found.sort();
    let mut expected = all(&[write, &write.replace("Create", "Reserve")]);
    expected.sort();
    assert_eq!(found, expected);
    let table = RetryTable::parse(TABLE).unwrap();
    let finding = &findings(&table, &services())[0];
    assert_eq!((finding.origin().unwrap().line(), finding.severity()), (3, Severity::Warning));
}

#[test]
fn a_method_that_is_hedged_although_the_table_says_no_is_a_finding() {
    let no = TABLE.replace("idempotent = true", "idempotent = false");
    let message =
        "hedged-not-idempotent: a.B/Reserve is hedged, and the table says that it is not idempotent";
    assert_eq!(messages(&no, &[]), [message]);
    let of_all = "[[entry]]\nfor = [\"a.B\"]\ntimeout = \"5s\"\nidempotent = false\nhedging = { max_attempts = 2, delay = \"1s\" }\n";
    let table = RetryTable::parse(of_all).unwrap();
    let finding = &Linter::new().run(&table)[0];
    assert_eq!(finding.message(), "a.B is hedged, and the table says that it is not idempotent");
    assert_eq!((finding.origin().unwrap().line(), finding.origin().unwrap().column()), (5, 11));
}

#[test]
fn the_word_counts_for_retries_as_well() {
    let retried = |word: &str| {
        format!(
            "[[entry]]\nfor = [\"a.B/Create\"]\ntimeout = \"60s\"\nmax_attempts = 3\ninitial_retry_delay = \"1s\"\n\
             max_retry_delay = \"9s\"\nretry_delay_multiplier = 1.3\ncodes = [\"UNAVAILABLE\", \"ABORTED\"]\n{word}\n"
        )
    };
    let create = [service("a.B", &["Create"])];
    let rules = |text: &str| rules(&findings(&RetryTable::parse(text).unwrap(), &create));
    assert_eq!(rules(&retried("")), ["retry-on-create", "ambiguous-code-on-write"]);
    assert_eq!(rules(&retried("idempotent = true")), [""; 0]);
    let get = [service("a.B", &["Get"])];
    let changed = retried("idempotent = false").replace("Create", "Get");
    let table = RetryTable::parse(&changed).unwrap();
    assert_eq!(super::rules(&findings(&table, &get)), ["ambiguous-code-on-write"]);
}

#[test]
fn what_is_hedged_needs_no_retries() {
    let entry = r#"for = ["a.B/GetBook"]
timeout = "5s"
"#;
    let hedged = format!("[[entry]]\n{entry}hedging = {{ max_attempts = 2, delay = \"1s\" }}\n");
    let books = [service("a.B", &["GetBook"])];
    assert_eq!(messages(&hedged, &books), [""; 0]);
    assert_eq!(
        messages(&format!("[[entry]]\n{entry}"), &books),
        ["read-without-retry: a.B/GetBook only reads and is not retried"]
    );
}
