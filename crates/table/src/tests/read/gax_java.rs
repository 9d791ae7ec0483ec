use super::{one_entry, one_policy, read, rules};
use crate::{Dialect, MethodDescription, RetryTable, ServiceDescription};
use gax_retry::{Code, CodeSet, MethodKind, RetrySettings};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn parse(text: &str) -> RetryTable {
    read(Dialect::GaxJava, text)
}

fn fatal(text: &str) -> String {
    RetryTable::reader().dialect(Dialect::GaxJava).read(text.as_bytes()).unwrap_err().to_string()
}

fn dropped(text: &str) -> bool {
    let table = parse(text);
    let dropped = rules(&table) == ["dropped-file"];
    assert!(!dropped || table.entry_count() == 0);
    dropped
}

#[test]
fn a_policy_has_javas_values() {
    let text = one_policy(r#", "maxAttempts": 5"#).replace("1.3", "1.25").replace("0.1s", "0.1009s");
    let table = parse(&text);
    let policy = table.lookup("a.B", "C").unwrap();
    let expected = RetrySettings::builder()
        .total_timeout(60_000 * MS)
        .initial_rpc_timeout(60_000 * MS)
        .max_rpc_timeout(60_000 * MS)
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(1.3)
        .max_retry_delay(10_000 * MS)
        .build()
        .unwrap();
    assert_eq!(policy.settings(), &expected, "maxAttempts is not read");
    assert_eq!(policy.codes(), CodeSet::from(Code::Unavailable));
    assert_eq!(table.findings(), []);
}

#[test]
fn a_policy_without_a_timeout_has_five_seconds_and_other_entries_none() {
    let table = parse(&one_policy("").replace(r#""timeout": "60s", "#, ""));
    let settings = table.lookup("a.B", "C").unwrap().settings();
    assert_eq!(settings.total_timeout(), Some(5000 * MS));
    assert_eq!(settings.initial_rpc_timeout(), Some(5000 * MS));
    for fields in ["", r#", "timeout": "0s""#, r#", "timeout": "0.0009s""#, r#", "hedgingPolicy": {}"#] {
        let table = parse(&one_entry(fields));
        assert_eq!(table.lookup("a.B", "C").unwrap().settings(), &RetrySettings::default(), "{fields}");
    }
}

#[test]
fn a_method_without_an_entry_has_the_name_for_that() {
    let table = parse(r#"{"methodConfig": [{"name": [{}, {"service": ""}], "timeout": "9s"}]}"#);
    let policy = table.lookup("a.B", "C").unwrap();
    assert_eq!((policy.codes_key(), policy.params_key()), ("no_retry_codes", "no_retry_params"));
    assert_eq!(policy.settings(), &RetrySettings::default());
    assert_eq!((policy.entry(), policy.origin()), (None, None));
}

#[test]
fn indices_count_all_entries() {
    let table = parse(
        r#"{"methodConfig": [
            {"name": [{"service": "x.Y"}], "timeout": "1s"}, {}, {"name": []},
            {"name": [{"service": "a.B"}], "timeout": "0s"}
        ]}"#,
    );
    assert_eq!(table.lookup("a.B", "C").unwrap().codes_key(), "no_retry_3_codes");
    assert_eq!(table.lookup("x.Y", "C").unwrap().params_key(), "no_retry_0_params");
}

#[test]
fn the_last_of_two_equal_names_counts_and_an_entry_replaces_the_services_whole() {
    let table = parse(
        r#"{"methodConfig": [
            {"name": [{"service": "a.B", "method": "C"}], "timeout": "1s"},
            {"name": [{"service": "a.B", "method": "C"}], "timeout": "2s"},
            {"name": [{"service": "a.B"}], "retryPolicy": {"initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1}},
            {"name": [{"service": "a.B", "method": "D"}]}
        ]}"#,
    );
    let key = |method| table.lookup("a.B", method).unwrap().codes_key();
    assert_eq!(key("C"), "no_retry_1_codes");
    assert_eq!(key("D"), "no_retry_codes");
    assert_eq!(key("E"), "retry_policy_2_codes");
}

#[test]
fn what_java_takes_is_read() {
    for fields in [
        r#", "timeout": null"#,
        r#", "timeout": "1s", "timeout": "2s""#,
        r#", "timeout": "+5.s""#,
        r#", "timeout": "-0.0001s""#,
        r#", "wait_for_ready": "true""#,
        r#", "retryPolicy": null, "hedgingPolicy": {"maxAttempts": "4"}"#,
        r#", "retryPolicy": {"initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": "1.5"}"#,
        r#", "retryPolicy": {"initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 0.96, "retryableStatusCodes": ["14", 4, "OK"]}"#,
        ", 'timeout': '1s' // a comment\n",
    ] {
        assert!(!dropped(&one_entry(fields)), "{fields}");
    }
    assert!(!dropped(&format!("\u{feff}{}", one_entry(""))));
    assert!(!dropped(
        r#"{"loadBalancingConfig": [{"round_robin": {}}], "retryThrottling": {"maxTokens": 1}}"#
    ));
}

#[test]
fn what_java_does_not_take_drops_the_file() {
    for fields in [
        r#", "timeOut": "1s""#,
        r#", "timeout": "1s", "#,
        r#", "timeout": ".5s""#,
        r#", "timeout": 60"#,
        r#", "timeout": "60S""#,
        r#", "timeout": "315576000001s""#,
        r#", "waitForReady": "yes""#,
        r#", "waitForReady": true, "wait_for_ready": true"#,
        r#", "retryPolicy": {"maxAttempts": -1}"#,
        r#", "retryPolicy": {"retryableStatusCodes": ["unavailable"]}"#,
        r#", "retryPolicy": {"retryableStatusCodes": ["NOPE"]}"#,
        r#", "retryPolicy": {"retryableStatusCodes": [null]}"#,
        r#", "retryPolicy": {}, "hedgingPolicy": {}"#,
    ] {
        assert!(dropped(&one_entry(fields)), "{fields}");
    }
    assert!(dropped("nonsense"));
    assert!(dropped(r#"{"methodConfig": [null]}"#));
    let table = parse("{\"methodConfig\": [],\n}");
    assert_eq!(
        table.findings()[0].to_string(),
        "line 1, column 20: warning[dropped-file]: Google's Java generator drops this file without a message, so that no \
         method has a retry or a deadline: not JSON: trailing commas are not allowed; correct the text here"
    );
    assert_eq!(table.lookup("a.B", "C").unwrap().codes_key(), "no_retry_codes");
}

#[test]
fn what_stops_the_generator_or_the_client_is_an_error() {
    for (from, to, message) in [
        (
            r#""initialBackoff": "0.1s","#,
            "",
            "has no initialBackoff, which stops Google's Java generator; add initialBackoff",
        ),
        (
            r#""maxBackoff": "10s","#,
            "",
            "has no maxBackoff, which stops Google's Java generator; add maxBackoff",
        ),
        (
            r#""backoffMultiplier": 1.3,"#,
            "",
            "has no backoffMultiplier, which makes the Java client fail when it starts; add backoffMultiplier",
        ),
        (
            "1.3",
            "0.94",
            "0.94 is the multiplier 0.9 in Java, which makes the Java client fail when it starts; write a number of at least 1, such as 1.3",
        ),
        (
            "10s",
            "0.05s",
            "\"0.05s\" is a maxBackoff below initialBackoff (100ms), which makes the Java client fail when it starts; write at least initialBackoff",
        ),
        (
            "60s",
            "-1s",
            "\"-1s\" is negative, which makes the Java client fail when it starts; write a time of zero or more",
        ),
    ] {
        let error = fatal(&one_policy("").replace(from, to));
        assert!(error.ends_with(message), "{error}");
    }
    assert!(dropped(&one_policy("").replace(r#""UNAVAILABLE""#, "\"99x\"")));
}

#[test]
fn a_number_that_is_no_code_does_not_compile() {
    let error = fatal(&one_policy("").replace(r#""UNAVAILABLE""#, "99"));
    assert_eq!(
        error,
        "line 2, column 60: 99 is UNRECOGNIZED in Java, which does not compile; \
         write a name such as UNAVAILABLE, or a number from 0 to 16"
    );
}

/// Java's generator writes them so: those of streams of requests are at the end, by name.
#[test]
fn streams_of_requests_have_the_last_rows_by_name() {
    let method = MethodDescription::new;
    let service = [
        method("Write", MethodKind::BidiStreaming),
        method("Watch", MethodKind::ServerStreaming),
        method("Append", MethodKind::ClientStreaming),
        method("Reindex", MethodKind::Unary).long_running(),
        method("Get", MethodKind::Unary),
    ]
    .into_iter()
    .fold(ServiceDescription::new("a.B"), ServiceDescription::with_method);
    let text = r#"{"methodConfig": [{"name": [{"service": "a.B", "method": "Write"}], "timeout": "5s"}]}"#;
    let stub = &parse(text).stub_tables(&[service])[0];
    let rows: Vec<(&str, &str)> = stub.rows().iter().map(|row| (row.getter(), row.kind().as_str())).collect();
    assert_eq!(
        rows,
        [
            ("watchSettings", "server-streaming"),
            ("reindexSettings", "unary"),
            ("getSettings", "unary"),
            ("reindexOperationSettings", "operation-initial"),
            ("reindexOperationSettings", "operation-polling"),
            ("appendSettings", "streaming"),
            ("writeSettings", "streaming"),
        ]
    );
    let names: Vec<&str> = stub.code_definitions().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["no_retry_0_codes", "no_retry_codes"], "definitions are in the order of the proto");
}
