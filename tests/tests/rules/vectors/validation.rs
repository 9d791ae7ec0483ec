//! Requirements 1 to 8: what of a service config is taken, and what refuses the whole of it.

use gax_table::{Dialect, RetryTable};
use tonic_gax_tests::a6::config;

fn read(text: &str) -> Result<RetryTable, String> {
    RetryTable::reader().dialect(Dialect::Grpc).read(text.as_bytes()).map_err(|error| error.to_string())
}

fn with(fields: &str) -> String {
    format!(r#"{{"methodConfig": [{{"name": [{{}}], {fields}}}]}}"#)
}

/// The vector, a field of the retry policy, and its values: those that are taken and those that are refused. An empty one is a
/// field that is not there.
#[test]
fn retry_policies() {
    for (name, field, taken, refused) in [
        (
            "v_attempts",
            "maxAttempts",
            &["2", "5", "99"][..],
            &["1", "0", "-1", "", "2.5", "\"4\"", "null"][..],
        ),
        (
            "v_init",
            "initialBackoff",
            &["\"0.0001s\"", "\"1s\""],
            &["\"0s\"", "\"-1s\"", "\"100ms\"", "", "1"],
        ),
        ("v_init_gt_max", "initialBackoff", &["\"20s\""], &[]),
        ("v_max", "maxBackoff", &["\"0.001s\""], &["\"0s\"", "\"-1s\"", ""]),
        ("v_mult_half", "backoffMultiplier", &["0.5", "1", "1.3"], &["0", "-1", "", "\"2\""]),
        (
            "v_codes",
            "retryableStatusCodes",
            &["[14]", "[\"unavailable\"]", "[14, \"ABORTED\"]"],
            &["[]", "", "[\"NOPE\"]", "[17]"],
        ),
    ] {
        for (values, is_taken) in [(taken, true), (refused, false)] {
            for value in values {
                let text = if value.is_empty() {
                    config(&[(field, "0")], "").replace(&format!("\"{field}\": 0"), "\"other\": 1")
                } else {
                    config(&[(field, value)], "")
                };
                let read = read(&text);
                assert_eq!(read.is_ok(), is_taken, "{name}: {field} {value}: {:?}", read.err());
            }
        }
    }
}

#[test]
fn hedging_policies_throttling_and_names() {
    let retry = config(&[], "");
    let retry = retry.split("\"name\": [{}], ").nth(1).unwrap().split("}]").next().unwrap();
    let hedging = r#""hedgingPolicy": {"maxAttempts": 4, "hedgingDelay": "0.1s"}"#;
    let throttling = |max: &str, ratio: &str| {
        config(&[], &format!(r#", "retryThrottling": {{"maxTokens": {max}, "tokenRatio": {ratio}}}"#))
    };
    let names = |names: &str| format!(r#"{{"methodConfig": [{{"name": [{names}], "timeout": "1s"}}]}}"#);
    for (name, text, is_taken) in [
        ("v_hedging", with(hedging), true),
        ("v_hedging_one", with(r#""hedgingPolicy": {"maxAttempts": 1}"#), false),
        // 5: without a delay all attempts go out at once, and without codes every error is fatal.
        ("h11, h16", with(r#""hedgingPolicy": {"maxAttempts": 4}"#), true),
        ("v_hedging_delay", with(r#""hedgingPolicy": {"maxAttempts": 4, "hedgingDelay": "-1s"}"#), false),
        ("v_both_policies", with(&format!("{retry}, {hedging}")), false),
        // 7: what the schema calls three decimals is taken, although the rules say an integer.
        ("v_tokens", throttling("10.5", "0.1"), true),
        ("v_tokens_most", throttling("1000", "0.1"), true),
        ("v_tokens_more", throttling("1001", "0.1"), false),
        ("v_tokens_none", throttling("0", "0.1"), false),
        ("v_ratio_none", throttling("10", "0"), false),
        ("v_ratio_less", throttling("10", "-1"), false),
        ("v_names", names(r#"{"service": "a.B", "method": "C"}, {"service": "a.B"}, {}"#), true),
        ("v_names_twice", names(r#"{"service": "a.B"}, {"service": "a.B"}"#), false),
        ("v_names_method", names(r#"{"method": "C"}"#), false),
    ] {
        let read = read(&text);
        assert_eq!(read.is_ok(), is_taken, "{name}: {:?}", read.err());
    }
}

/// 8: a method's entry goes before its service's, and that before the one for all.
#[test]
fn the_closest_name_counts() {
    let entry = |name: &str, seconds: u32| format!(r#"{{"name": [{name}], "timeout": "{seconds}s"}}"#);
    let method = entry(r#"{"service": "a.B", "method": "C"}"#, 1);
    let (service, all) = (entry(r#"{"service": "a.B"}"#, 2), entry("{}", 3));
    let table = read(&format!(r#"{{"methodConfig": [{all}, {service}, {method}]}}"#)).unwrap();
    let timeout = |service, method| table.lookup(service, method).unwrap().settings().total_timeout();
    let timeouts =
        [("a.B", "C"), ("a.B", "D"), ("a.C", "C")].map(|(service, method)| timeout(service, method));
    assert_eq!(timeouts.map(|timeout| timeout.unwrap().as_secs()), [1, 2, 3]);
}
