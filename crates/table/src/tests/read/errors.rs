use super::{one_entry, one_policy};
use crate::{Dialect, RetryTable, TableError};
use std::error::Error;

fn error(text: &str) -> String {
    RetryTable::reader().file_name("retry.json").read(text.as_bytes()).unwrap_err().to_string()
}

/// `main` prints that of an error that it returns.
#[test]
fn an_errors_debug_is_its_display_with_the_line() {
    let debug = |text: &str| {
        let error = RetryTable::reader().file_name("retry.json").read(text.as_bytes()).unwrap_err();
        let debug = format!("{error:?}");
        assert!(debug.starts_with(&error.to_string()), "{debug}");
        debug
    };
    assert_eq!(
        debug("{\"methodConfig\": [\n\t{\"name\": [{}], \"timeout\": \"500ms\"}\n]}"),
        "retry.json:2:28: \"500ms\" is not a duration; write seconds followed by s, such as \"0.5s\"\n\
         \u{20} |\n\
         2 |  {\"name\": [{}], \"timeout\": \"500ms\"}\n\
         \u{20} |                            ^^^^^^^"
    );
    let long =
        format!("{{\"x\": \"{}\", \"methodConfig\": 7, \"y\": \"{}\"}}", "é".repeat(300), "z".repeat(300));
    let lines: Vec<String> = debug(&long).lines().map(str::to_owned).collect();
    assert_eq!(lines[2].chars().count(), 104);
    let caret = lines[3].chars().position(|c| c == '^').unwrap();
    assert_eq!(lines[2].chars().nth(caret), Some('7'));
    assert_eq!(
        format!("{:?}", RetryTable::parse("").unwrap_err()),
        "line 1, column 1: the file is empty; write a retry table, such as {\"methodConfig\": [{\"name\": \
         [{\"service\": \"a.B\"}], \"timeout\": \"60s\"}]}\n  |\n1 | \n  | ^"
    );
}

#[test]
fn what_has_no_meaning_is_an_error_with_its_place() {
    for (fields, message) in [
        (
            r#", "timeout": "500ms""#,
            r#"76: "500ms" is not a duration; write seconds followed by s, such as "0.5s""#,
        ),
        (
            r#", "timeout": "5m""#,
            r#"76: "5m" is not a duration; write seconds followed by s, such as "300s""#,
        ),
        (
            r#", "timeout": "soon""#,
            r#"76: "soon" is not a duration; write seconds followed by s, such as "0.1s""#,
        ),
        (
            r#", "timeout": 60"#,
            r#"76: 60 is a number, but timeout is a duration in quotes, such as "60s"; write a duration in quotes, such as "60s""#,
        ),
        (r#", "timeout": "-1s""#, r#"76: "-1s" is negative; write a time of zero or more"#),
        (
            r#", "timeout": "9999999999999s""#,
            r#"76: "9999999999999s" is not a duration; write seconds followed by s, such as "0.1s""#,
        ),
        (
            r#", "retryPolicy": []"#,
            "80: [] is an array, but a retry policy is an object; write an object in braces",
        ),
        (
            r#", "retryPolicy": {"maxAttempts": 2.5}"#,
            "96: 2.5 is not a value for maxAttempts; write a whole number, such as 5",
        ),
        (
            r#", "retryPolicy": {"maxAttempts": -1}"#,
            "96: -1 is not a value for maxAttempts; write a whole number, such as 5",
        ),
        (
            r#", "retryPolicy": {"maxAttempts": "4"}"#,
            r#"96: "4" is a string, but maxAttempts is a number; write a number"#,
        ),
        (
            r#", "retryPolicy": {"maxAttempts": 4294967296}"#,
            "96: 4294967296 is not a value for maxAttempts; write a whole number, such as 5",
        ),
        (
            r#", "retryPolicy": {"backoffMultiplier": 0.9}"#,
            "102: 0.9 is a multiplier below 1; write a number of at least 1, such as 1.3",
        ),
        (
            r#", "retryPolicy": {"backoffMultiplier": 1e999}"#,
            "102: 1e999 is not a finite number; write a number such as 1.3",
        ),
        (
            r#", "retryPolicy": {"backoffMultiplier": "1.3"}"#,
            r#"102: "1.3" is a string, but backoffMultiplier is a number; write a number"#,
        ),
        (
            r#", "retryPolicy": {"retryableStatusCodes": "UNAVAILABLE"}"#,
            r#"105: "UNAVAILABLE" is a string, but retryableStatusCodes is an array; write an array"#,
        ),
        (
            r#", "retryPolicy": {"retryableStatusCodes": ["UNAVAILBLE"]}"#,
            r#"106: "UNAVAILBLE" is not a gRPC status code; did you mean UNAVAILABLE?"#,
        ),
        (
            r#", "retryPolicy": {"retryableStatusCodes": ["deadline-exceeded"]}"#,
            r#"106: "deadline-exceeded" is not a gRPC status code; did you mean DEADLINE_EXCEEDED?"#,
        ),
        (
            r#", "retryPolicy": {"retryableStatusCodes": [17]}"#,
            "106: 17 is not a gRPC status code; write a name such as UNAVAILABLE, or a number from 0 to 16",
        ),
        (
            r#", "retryPolicy": {"retryableStatusCodes": [null]}"#,
            "106: null is null, but an element of retryableStatusCodes is a status code; write a status code",
        ),
        (
            r#", "retryPolicy": {}, "hedgingPolicy": {}"#,
            "84: an entry has both a retryPolicy and a hedgingPolicy; remove one of the two",
        ),
        (
            r#", "waitForReady": "yes""#,
            r#"81: "yes" is a string, but waitForReady is true or false; write true or false"#,
        ),
    ] {
        assert_eq!(error(&one_entry(fields)), format!("retry.json:1:{message}"), "{fields}");
    }
}

#[test]
fn what_is_no_service_config_says_so() {
    for (text, message) in [
        (
            "",
            "retry.json:1:1: the file is empty; write a retry table, such as {\"methodConfig\": [{\"name\": \
             [{\"service\": \"a.B\"}], \"timeout\": \"60s\"}]}",
        ),
        (
            "[]",
            "retry.json:1:1: [] is an array, but a service config is an object; write an object in braces",
        ),
        (
            "{\n  \"methodConfig\": [],\n}",
            "retry.json:2:21: not JSON: trailing commas are not allowed; correct the text here",
        ),
        ("{\"methodConfig\": [", "retry.json:1:18: not JSON: unterminated array; correct the text here"),
        (
            "nonsense",
            "retry.json:1:1: nonsense is neither JSON nor YAML nor TOML; a retry table begins with { or a key",
        ),
        (
            "{\"methodConfig\": {}}",
            "retry.json:1:18: {} is an object, but methodConfig is an array; write an array",
        ),
        (
            "{\"methodConfig\": [{\"name\": [{\"service\": 1}]}]}",
            "retry.json:1:41: 1 is a number, but service is a string; write a string",
        ),
        (
            "{\"retryThrottling\": {\"maxTokens\": 0}}",
            "retry.json:1:35: 0 is a maxTokens that is not above zero; write a number up to 1000, such as 10",
        ),
        (
            "{\"retryThrottling\": {\"maxTokens\": 1}}",
            "retry.json:1:2: \"retryThrottling\" has no tokenRatio; write a number such as 0.1",
        ),
    ] {
        assert_eq!(error(text), message);
    }
}

#[test]
fn columns_are_characters_and_long_text_is_cut() {
    let text = format!("{{\n \"é→\": 1, \"methodConfig\": \"{}\"}}", "x".repeat(1000));
    let error = RetryTable::parse(&text).unwrap_err();
    let origin = error.origin().unwrap();
    assert_eq!((origin.line(), origin.column(), origin.file()), (2, 27, None));
    assert_eq!(error.text().unwrap(), format!("\"{}...", "x".repeat(59)));
    assert_eq!(&text[origin.span()], format!("\"{}\"", "x".repeat(1000)));
}

#[test]
fn a_file_that_is_not_utf8_says_where() {
    let error = RetryTable::reader().file_name("retry.json").read(b"{\n \"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "retry.json:2:3: the byte 0xff is not UTF-8; save the file as UTF-8");
}

#[test]
fn a_file_that_can_not_be_read_says_why() {
    let error = RetryTable::from_path("no/such/file.json").unwrap_err();
    assert!(error.to_string().starts_with("can't read no/such/file.json: "), "{error}");
    assert!(error.source().is_some());
    assert_eq!(error.origin(), None);
}

#[test]
fn a_text_that_is_fine_is_no_error() {
    assert!(RetryTable::parse(&one_policy("")).is_ok());
}

/// The places of all errors of a file, with the texts that they are about.
fn places(text: &str, dialect: Dialect) -> Vec<(usize, String)> {
    let error = RetryTable::reader().dialect(dialect).read(text.as_bytes()).unwrap_err();
    let lines = error.to_string().lines().count();
    let errors: Vec<_> = std::iter::once(&error).chain(error.others()).collect();
    assert_eq!(lines, errors.len(), "{error}");
    let place = |error: &&TableError| {
        assert!(format!("{error:?}").contains(" |\n"), "{error:?}");
        (error.origin().unwrap().line(), error.text().unwrap().to_owned())
    };
    errors.iter().map(place).collect()
}

fn expected(places: &[(usize, &str)]) -> Vec<(usize, String)> {
    places.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
}

#[test]
fn every_wrong_value_of_a_file_is_an_error() {
    let text = r#"{"methodConfig": [
        {"name": [{"service": "a.B", "method": "C"}], "timeout": "500ms"},
        {"name": [{"service": "a.B", "method": "D"}], "retryPolicy": {"maxAttempts": "x", "initialBackoff": "1s",
            "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAIL", "NOPE"]}},
        {"name": [{"service": 5}]}
    ]}"#;
    let all = [(2, "\"500ms\""), (3, "\"x\""), (4, "\"UNAVAIL\""), (4, "\"NOPE\""), (5, "5")];
    assert_eq!(places(text, Dialect::AsWritten), expected(&all));
    // For gRPC a policy without attempts or codes is an error too, but here only because theirs are wrong.
    assert_eq!(places(text, Dialect::Grpc), expected(&all));
}

#[test]
fn what_follows_from_another_error_is_none() {
    let text = r#"{"interfaces": {"a.B": {
        "retry_codes": {"idempotent": ["UNAVAIL"], "non": 4},
        "retry_params": {"default": {"initial_retry_delay_millis": "x"}},
        "methods": {
            "C": {"timeout_millis": "y", "retry_codes_name": "non", "retry_params_name": "default"},
            "D": {"timeout_millis": 5, "retry_codes_name": "none", "retry_params_name": "default"}
        }}}}"#;
    let all = [(2, "\"UNAVAIL\""), (2, "4"), (3, "\"x\""), (5, "\"y\""), (6, "\"none\"")];
    assert_eq!(places(text, Dialect::AsWritten), expected(&all));
}

#[test]
fn there_is_an_end_to_errors() {
    let entries: Vec<String> =
        (0..50).map(|n| format!(r#"{{"name": [{{"service": "a.B{n}"}}], "timeout": {n}}}"#)).collect();
    let text = format!(r#"{{"methodConfig": [{}]}}"#, entries.join(","));
    assert_eq!(RetryTable::parse(&text).unwrap_err().others().len(), 19);
    for text in ["", "{", "[]", r#"{"methodConfig": 5}"#, "5"] {
        let others = RetryTable::parse(text).err().map_or(0, |error| error.others().len());
        assert_eq!(others, 0, "{text}");
    }
}

#[cfg(feature = "toml")]
#[test]
fn every_wrong_value_of_a_toml_table_is_an_error() {
    let text = r#"
[codes]
bad = 5
[[entry]]
for = ["a.B/C"]
codes = "bad"
total_timeout = "5 parsecs"
[[entry]]
for = ["a.B/D"]
max_attempts = "x"
[[entry]]
for = ["a.B/E"]
codes = "idem"
hedging = { percentile = 3 }
"#;
    let all = [(3, "5"), (7, "\"5 parsecs\""), (10, "\"x\""), (13, "\"idem\""), (14, "3")];
    assert_eq!(places(text, Dialect::AsWritten), expected(&all));
}

#[cfg(feature = "yaml")]
#[test]
fn every_wrong_value_of_gapic_yaml_is_an_error() {
    let text = r"config_schema_version: 1.0.0
interfaces:
- name: a.B
  retry_codes_def:
  - name: idempotent
    retry_codes:
    - UNAVAIL
  retry_params_def:
  - name: default
    initial_retry_delay_millis: x
  methods:
  - name: C
    retry_codes_name: idempotent
    retry_params_name: default
    timeout_millis: y
";
    assert_eq!(places(text, Dialect::AsWritten), expected(&[(7, "UNAVAIL"), (10, "x"), (15, "y")]));
}
