use super::{one_entry, one_policy, read, rules};
use crate::{Dialect, PolicyField, RetryTable};
use gax_retry::{Code, CodeSet, RetrySettings};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn parse(text: &str) -> RetryTable {
    read(Dialect::AsWritten, text)
}

fn settings(text: &str) -> RetrySettings {
    parse(text).lookup("a.B", "C").unwrap().settings().clone()
}

#[test]
fn a_policy_is_taken_value_by_value() {
    let table = parse(&one_policy(r#", "maxAttempts": 9"#).replace("1.3", "1.2345"));
    let policy = table.lookup("a.B", "C").unwrap();
    let expected = RetrySettings::builder()
        .total_timeout(60_000 * MS)
        .initial_rpc_timeout(60_000 * MS)
        .max_rpc_timeout(60_000 * MS)
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(1.2345)
        .max_retry_delay(10_000 * MS)
        .max_attempts(9)
        .build()
        .unwrap();
    assert_eq!(policy.settings(), &expected);
    assert_eq!(policy.codes(), CodeSet::from(Code::Unavailable));
    assert_eq!((policy.codes_key(), policy.params_key()), ("retry_policy_0_codes", "retry_policy_0_params"));
    assert_eq!(policy.entry(), Some(0));
    assert_eq!(policy.origin().unwrap().to_string(), "line 1, column 19");
    let multiplier = policy.origin_of(PolicyField::RetryDelayMultiplier).unwrap();
    assert_eq!((multiplier.line(), multiplier.column()), (2, 30));
    assert_eq!(policy.origin_of(PolicyField::Jittered), None);
    assert_eq!(table.findings(), []);
}

#[test]
fn the_timeout_is_the_total_and_that_of_every_attempt() {
    let timeout = Some(1500 * MS);
    let settings_of = settings(&one_entry(r#", "timeout": "1.5s""#));
    assert_eq!(settings_of.total_timeout(), timeout);
    assert_eq!(settings_of.initial_rpc_timeout(), timeout);
    assert_eq!(settings_of.max_rpc_timeout(), timeout);
    assert_eq!(settings_of.max_attempts(), None);
    assert_eq!(settings(&one_entry(r#", "timeout": "0s""#)), RetrySettings::default());
    assert_eq!(settings(&one_entry("")), RetrySettings::default());
}

#[test]
fn definitions_are_named_by_what_an_entry_has() {
    let keys = |fields: &str| {
        let table = parse(&one_entry(fields));
        let policy = table.lookup("a.B", "C").unwrap();
        format!("{} {}", policy.codes_key(), policy.params_key())
    };
    assert_eq!(keys(r#", "timeout": "1s""#), "no_retry_0_codes no_retry_0_params");
    assert_eq!(keys(r#", "timeout": "0s""#), "no_retry_0_codes no_retry_0_params");
    assert_eq!(keys(""), "no_retry_codes no_retry_params");
    assert_eq!(keys(r#", "hedgingPolicy": {"maxAttempts": 3}"#), "no_retry_codes no_retry_params");
    assert_eq!(keys(r#", "retryPolicy": {}"#), "retry_policy_0_codes retry_policy_0_params");
}

#[test]
fn a_method_goes_before_its_service_and_that_before_everything() {
    let table = parse(
        r#"{"methodConfig": [
            {"name": [{"service": "a.B", "method": "C"}]},
            {"name": [{"service": "a.B"}], "timeout": "2s"},
            {"name": [{}], "timeout": "3s"},
            {"name": [{"service": "a.B", "method": "D"}, {"service": "x.Y", "method": "D"}], "timeout": "4s"}
        ]}"#,
    );
    let total =
        |service, method| table.lookup(service, method).map(|policy| policy.settings().total_timeout());
    assert_eq!(total("a.B", "C"), Some(None), "an entry replaces the service's whole");
    assert_eq!(total("a.B", "Z"), Some(Some(2000 * MS)));
    assert_eq!(total("a.B", "c"), Some(Some(2000 * MS)), "names are exact");
    assert_eq!(total("x.Y", "Z"), Some(Some(3000 * MS)));
    assert_eq!(total("x.Y", "D"), Some(Some(4000 * MS)));
    let names: Vec<_> = table.names().map(|name| (name.service(), name.method(), name.entry())).collect();
    assert_eq!(
        names,
        [
            ("a.B", Some("C"), Some(0)),
            ("a.B", None, Some(1)),
            ("", None, Some(2)),
            ("a.B", Some("D"), Some(3)),
            ("x.Y", Some("D"), Some(3))
        ]
    );
    let origin = table.names().last().unwrap().origin().unwrap();
    assert_eq!((origin.line(), origin.column()), (5, 87));
}

#[test]
fn what_no_entry_names_is_not_in_the_table() {
    assert!(parse(&one_policy("")).lookup("a.B", "D").is_none());
    assert!(parse("{}").lookup("a.B", "C").is_none());
    assert!(parse(r#"{"methodConfig": []}"#).lookup("", "").is_none());
}

#[test]
fn the_last_of_two_equal_names_counts() {
    let table = parse(
        r#"{"methodConfig": [
            {"name": [{"service": "a.B", "method": "C"}], "timeout": "1s"},
            {"name": [{"service": "a.B", "method": "C"}, {"service": "a.B", "method": "C"}], "timeout": "2s"}
        ]}"#,
    );
    let total = table.lookup("a.B", "C").unwrap().settings().total_timeout();
    assert_eq!(total, Some(2000 * MS));
    let messages: Vec<_> = table.findings().iter().map(ToString::to_string).collect();
    let help = "the last one applies; remove the other: gRPC itself rejects the whole file";
    assert_eq!(
        messages,
        [
            format!(
                "line 3, column 52: warning[duplicate-name]: a.B/C is in an earlier entry too (at line 2, column 52); {help}"
            ),
            format!(
                "line 3, column 87: warning[duplicate-name]: a.B/C is twice in this entry (at line 3, column 52); {help}"
            ),
        ]
    );
}

#[test]
fn codes_are_names_in_any_case_and_numbers() {
    let text =
        one_policy(r#", "maxAttempts": 2"#).replace(r#""UNAVAILABLE""#, r#""unavailable", 4, "ABORTED", 4"#);
    let table = parse(&text);
    let codes = table.lookup("a.B", "C").unwrap().codes();
    assert_eq!(codes, CodeSet::from([Code::DeadlineExceeded, Code::Aborted, Code::Unavailable]));
    assert_eq!(rules(&table), ["lower-case-code", "duplicate-code"]);
}

#[test]
fn what_has_no_effect_or_is_not_known_is_a_finding() {
    for (fields, expected) in [
        (r#", "timeout": "1s", "waitForReady": true"#, "no-effect"),
        (r#", "timeout": "1s", "maxRequestMessageBytes": 4"#, "no-effect"),
        (r#", "timeout": "1s", "timeot": "2s""#, "unknown-field"),
        (r#", "timeout": "1s", "timeout": "2s""#, "duplicate-key"),
        (r#", "timeout": null"#, "null-value"),
        (r#", "wait_for_ready": null"#, "snake-case-field null-value"),
        (r#", "timeout": /* one */ "1s""#, "not-strict-json"),
        (
            r#", "retryPolicy": {"maxAttempts": 2, "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1}"#,
            "no-codes",
        ),
        (
            r#", "retryPolicy": {"maxAttempts": 2, "retryableStatusCodes": [14]}"#,
            "missing-backoff missing-backoff missing-backoff",
        ),
    ] {
        assert_eq!(rules(&parse(&one_entry(fields))).join(" "), expected, "{fields}");
    }
    for (fields, expected) in [
        ("", "no-max-attempts"),
        (r#", "maxAttempts": 0"#, "max-attempts-below-2"),
        (r#", "maxAttempts": 1"#, "max-attempts-below-2"),
        (r#", "maxAttempts": 2.0"#, ""),
    ] {
        assert_eq!(rules(&parse(&one_policy(fields))).join(" "), expected, "{fields}");
    }
    let unlimited = one_policy("").replace(r#""timeout": "60s", "#, "");
    assert_eq!(rules(&parse(&unlimited)), ["no-max-attempts", "no-limits"]);
    let nameless = r#"{"methodConfig": [{"name": [{"method": "C"}]}], "extra": 1}"#;
    assert_eq!(rules(&parse(nameless)), ["unknown-field", "malformed-name"]);
}

#[test]
fn a_cap_below_the_initial_delay_is_every_delay() {
    let text = one_policy(r#", "maxAttempts": 2"#).replace(r#""0.1s""#, r#""20s""#);
    let table = parse(&text);
    let settings = table.lookup("a.B", "C").unwrap().settings();
    assert_eq!(settings.initial_retry_delay(), Some(10_000 * MS));
    assert_eq!(settings.max_retry_delay(), Some(10_000 * MS));
    assert_eq!(
        table.findings()[0].to_string(),
        "line 1, column 138: warning[max-below-initial]: maxBackoff (10s) is shorter than initialBackoff (20s); \
         write a maxBackoff \
         above initialBackoff: as it is, every delay is maxBackoff, and Google's Java clients refuse to start"
    );
}

#[test]
fn snake_case_and_a_byte_order_mark_are_read() {
    let text = one_policy(r#", "maxAttempts": 2"#).replace("initialBackoff", "initial_backoff");
    let table = parse(&format!("\u{feff}{text}"));
    assert_eq!(table.lookup("a.B", "C").unwrap().settings().initial_retry_delay(), Some(100 * MS));
    assert_eq!(rules(&table), ["snake-case-field"]);
}

#[test]
fn hedging_waiting_and_throttling_are_kept() {
    let table = parse(
        r#"{"methodConfig": [{"name": [{}], "waitForReady": true, "hedgingPolicy":
            {"maxAttempts": 3, "hedgingDelay": "0.5s", "nonFatalStatusCodes": ["UNAVAILABLE"]}}],
            "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#,
    );
    let policy = table.lookup("any.Service", "Method").unwrap();
    let hedging = policy.hedging().unwrap();
    assert_eq!(hedging.max_attempts(), Some(3));
    assert_eq!(hedging.delay(), 500 * MS);
    assert_eq!(hedging.non_fatal_codes(), CodeSet::from(Code::Unavailable));
    assert_eq!(policy.wait_for_ready(), Some(true));
    let throttling = table.throttling().unwrap();
    assert_eq!(
        (throttling.max_tokens().to_string(), throttling.token_ratio().to_string()),
        ("10".into(), "0.1".into())
    );
}
