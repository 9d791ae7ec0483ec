use super::{one_entry, one_policy, read, rules};
use crate::{Dialect, RetryTable};
use gax_retry::{Code, CodeSet, RetrySettings};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn parse(text: &str) -> RetryTable {
    read(Dialect::Grpc, text)
}

fn error(text: &str) -> String {
    RetryTable::reader().dialect(Dialect::Grpc).read(text.as_bytes()).unwrap_err().to_string()
}

/// A policy that gRPC takes, with some text replaced.
fn policy(from: &str, to: &str) -> String {
    one_policy(r#", "maxAttempts": 4"#).replace(from, to)
}

#[test]
fn a_policy_has_grpcs_values() {
    let table = parse(&policy("1.3", "1.25"));
    let found = table.lookup("a.B", "C").unwrap();
    let expected = RetrySettings::builder()
        .total_timeout(60_000 * MS)
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(1.25)
        .max_retry_delay(10_000 * MS)
        .max_attempts(4)
        .build()
        .unwrap();
    assert_eq!(found.settings(), &expected, "attempts have no timeout of their own");
    assert_eq!(found.codes(), CodeSet::from(Code::Unavailable));
    assert_eq!(table.findings(), []);
}

#[test]
fn what_grpc_takes_is_read() {
    for (from, to) in [
        ("1.3", "0.5"),
        ("0.1s", "20s"),
        ("0.1s", "0.0001s"),
        ("\"UNAVAILABLE\"", "14, \"aborted\""),
        ("60s", "-1s"),
        ("\"timeout\"", "\"waitForReady\": true, \"unknown\": null, \"timeout\""),
        ("[{\"service\": \"a.B\", \"method\": \"C\"}]", "[]"),
        ("\"service\": \"a.B\", \"method\": \"C\"", ""),
    ] {
        parse(&policy(from, to));
    }
    let capped = parse(&policy("\"maxAttempts\": 4", "\"maxAttempts\": 99"));
    assert_eq!(capped.lookup("a.B", "C").unwrap().settings().max_attempts(), Some(5));
    assert_eq!(rules(&capped), ["max-attempts-above-5"]);
    let shrinking = parse(&policy("1.3", "0.5"));
    let multiplier = shrinking.lookup("a.B", "C").unwrap().settings().retry_delay_multiplier();
    assert_eq!(multiplier, Some(0.5));
    let below = parse(&policy("0.1s", "20s"));
    assert_eq!(below.lookup("a.B", "C").unwrap().settings().initial_retry_delay(), Some(10_000 * MS));
    let failing = parse(&policy("60s", "-1s"));
    assert_eq!(failing.lookup("a.B", "C").unwrap().settings().total_timeout(), Some(Duration::ZERO));
    assert_eq!(rules(&failing), ["timeout-not-positive"]);
}

#[test]
fn a_field_in_snake_case_is_not_seen() {
    let table = parse(&policy("\"timeout\"", "\"time_out\""));
    assert_eq!(table.lookup("a.B", "C").unwrap().settings().total_timeout(), None);
    assert_eq!(rules(&table), ["unknown-field"]);
}

#[test]
fn what_grpc_refuses_is_an_error() {
    for (from, to) in [
        (", \"maxAttempts\": 4", ""),
        ("\"maxAttempts\": 4", "\"maxAttempts\": 1"),
        ("\"maxAttempts\": 4", "\"maxAttempts\": 0"),
        ("\"maxAttempts\": 4", "\"maxAttempts\": 2.5"),
        ("\"maxAttempts\": 4", "\"maxAttempts\": \"4\""),
        ("\"maxAttempts\": 4", "\"max_attempts\": 4"),
        ("0.1s", "0s"),
        ("0.1s", "-1s"),
        ("0.1s", "100ms"),
        ("\"initialBackoff\": \"0.1s\", ", ""),
        ("\"maxBackoff\": \"10s\",", ""),
        ("10s", "0s"),
        ("1.3", "0"),
        ("1.3", "-1"),
        ("\"backoffMultiplier\": 1.3,", ""),
        ("\"UNAVAILABLE\"", ""),
        ("\"UNAVAILABLE\"", "\"NOPE\""),
        ("\"UNAVAILABLE\"", "17"),
        ("\"UNAVAILABLE\"", "\"UNAVAILABLE\", \"OK\""),
        (", \"retryableStatusCodes\": [\"UNAVAILABLE\"]", ""),
        ("60s", "60"),
        ("\"60s\"", "null"),
        ("\"60s\"", "\"60s\" // a comment\n"),
        ("\"60s\"", "'60s'"),
        ("\"timeout\"", "\"x\": 1, \"x\": 1, \"timeout\""),
        ("\"timeout\"", "\"hedgingPolicy\": {\"maxAttempts\": 2}, \"timeout\""),
        ("\"service\": \"a.B\",", ""),
        ("\"method\": \"C\"}", "\"method\": \"C\"}, {\"service\": \"a.B\", \"method\": \"C\"}"),
        ("\"service\": \"a.B\", \"method\": \"C\"}", "}, {}"),
    ] {
        let text = policy(from, to);
        assert_ne!(text, policy("", ""), "{from}");
        assert!(error(&text).starts_with("line "), "{from} {to}");
    }
}

#[test]
fn hedging_and_throttling_have_rules_too() {
    let hedging = |fields: &str| one_entry(&format!(r#", "hedgingPolicy": {{{fields}}}"#));
    let table = parse(&hedging(r#""maxAttempts": 3"#));
    assert_eq!(table.lookup("a.B", "C").unwrap().hedging().unwrap().max_attempts(), Some(3));
    for fields in ["", r#""maxAttempts": 1"#, r#""maxAttempts": 3, "hedgingDelay": "-1s""#] {
        assert!(error(&hedging(fields)).starts_with("line "), "{fields}");
    }
    let throttling = |fields: &str| format!(r#"{{"retryThrottling": {{{fields}}}}}"#);
    for (fields, fine) in [
        (r#""maxTokens": 1000, "tokenRatio": 0.1"#, true),
        (r#""maxTokens": 10.5, "tokenRatio": 2"#, true),
        (r#""maxTokens": 1001, "tokenRatio": 0.1"#, false),
        (r#""maxTokens": 0, "tokenRatio": 0.1"#, false),
        (r#""maxTokens": 10, "tokenRatio": 0"#, false),
        (r#""maxTokens": 10"#, false),
    ] {
        let result = RetryTable::reader().dialect(Dialect::Grpc).read(throttling(fields).as_bytes());
        assert_eq!(result.is_ok(), fine, "{fields}");
    }
}

#[test]
fn errors_say_what_to_write() {
    assert_eq!(
        error(&policy("\"maxAttempts\": 4", "\"maxAttempts\": 1")),
        "line 2, column 91: 1 is too small for maxAttempts; write a whole number from 2 to 5"
    );
    let twice = r#"{"methodConfig": [{"name": [{"service": "a.B"}]}, {"name": [{"service": "a.B"}]}]}"#;
    assert_eq!(
        error(twice),
        "line 1, column 73: a.B occurs twice, first at line 1, column 41; remove one of the two"
    );
}

/// Where gRPC's libraries read otherwise than gRFC A6, the dialect follows A6 and says so.
#[test]
fn what_a_library_reads_otherwise_is_reported() {
    let table = parse(&policy("\"UNAVAILABLE\"", "\"unavailable\""));
    assert_eq!(table.lookup("a.B", "C").unwrap().codes(), CodeSet::from(Code::Unavailable));
    assert_eq!(
        table.findings()[0].to_string(),
        "line 2, column 60: warning[lower-case-code]: \"unavailable\" is read as UNAVAILABLE; write UNAVAILABLE: \
         Google's generators, grpc-go, grpc-java and grpcio reject the whole file"
    );
    let table = parse(&one_entry(r#", "hedgingPolicy": {"maxAttempts": 3}"#));
    assert_eq!(table.lookup("a.B", "C").unwrap().hedging().unwrap().delay(), Duration::ZERO);
    assert_eq!(
        table.findings()[0].to_string(),
        "line 1, column 65: warning[grpc-libraries-differ]: without a hedgingDelay all attempts are sent at once; write \
         \"0s\": grpc-java rejects the whole file"
    );
    assert_eq!(
        parse(&one_entry(r#", "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0s"}"#)).findings(),
        []
    );
    let throttling =
        |tokens: &str| format!(r#"{{"retryThrottling": {{"maxTokens": {tokens}, "tokenRatio": 0.1}}}}"#);
    for (text, expected) in [
        (
            policy("1.3", "\"1.3\""),
            "\"1.3\" is a string, but backoffMultiplier is a number; write a number: grpc-java and grpcio take the string, gRPC's \
             own rules (A6) do not",
        ),
        (
            policy("\"maxAttempts\": 4", "\"maxAttempts\": \"4\""),
            "\"4\" is a string, but maxAttempts is a number; write a number: grpc-java and grpcio take the string, gRPC's own \
             rules (A6) do not",
        ),
        (
            policy("\"timeout\"", "\"hedgingPolicy\": {\"maxAttempts\": 2}, \"timeout\""),
            "an entry has both a retryPolicy and a hedgingPolicy; remove one of the two: grpc-go and grpcio ignore the hedging policy, gRPC's \
             own rules (A6) do not",
        ),
        (
            throttling("1001"),
            "1001 is not a valid maxTokens for gRPC; write a number above 0, up to 1000: grpc-java and grpcio take more, gRPC's own rules \
             (A6) do not",
        ),
    ] {
        let error = error(&text);
        assert_eq!(error.split_once(": ").unwrap().1, expected);
    }
}
