use super::*;
use crate::Severity;
use crate::lint::Linter;

fn said(entries: &[&str]) -> Vec<&'static str> {
    rules(&Linter::new().run(&table(entries)))
}

fn one(timeout: &str, initial: &str, max: &str, multiplier: f64, codes: &str) -> Vec<&'static str> {
    said(&[&policy(&[name("a.B", "C")], timeout, initial, max, multiplier, codes)])
}

#[test]
fn a_sound_policy_is_passed_over() {
    assert_eq!(said(&[&sound(&[name("a.B", "C")])]), [""; 0]);
    assert_eq!(said(&[&timeout_only(&[name("a.B", "")], "5s")]), [""; 0]);
}

#[test]
fn delays_that_do_not_fit_the_timeout() {
    let codes = r#""UNAVAILABLE""#;
    assert_eq!(one("10s", "1s", "10s", 1.3, codes), ["cap-equals-timeout"]);
    assert_eq!(one("9.999s", "1s", "10s", 1.3, codes), ["cap-above-timeout"]);
    assert_eq!(one("10.001s", "1s", "10s", 1.3, codes), [""; 0]);
    assert_eq!(one("10s", "10s", "20s", 1.3, codes), ["backoff-exceeds-timeout"]);
    assert_eq!(one("60s", "10s", "10s", 1.3, codes), ["max-equals-initial"]);
}

#[test]
fn multipliers() {
    let codes = r#""UNAVAILABLE""#;
    assert_eq!(one("60s", "1s", "10s", 1.0, codes), ["multiplier-is-1"]);
    assert_eq!(one("60s", "1s", "10s", 1.25, codes), ["multiplier-precision"]);
    assert_eq!(one("60s", "1s", "10s", 9.0, codes), [""; 0]);
}

#[test]
fn codes_that_are_better_not_retried() {
    assert_eq!(one("60s", "1s", "10s", 1.3, r#""NOT_FOUND""#), ["permanent-code"]);
    assert_eq!(one("60s", "1s", "10s", 1.3, r#""INTERNAL""#), ["internal-or-unknown-retried"]);
    assert_eq!(one("60s", "1s", "10s", 1.3, r#""DEADLINE_EXCEEDED""#), ["deadline-retry-unreachable"]);
    let gentle = "gentle-backoff-on-resource-exhausted";
    assert_eq!(one("60s", "0.9s", "10s", 1.9, r#""RESOURCE_EXHAUSTED""#), [gentle]);
    assert_eq!(one("60s", "1s", "10s", 1.9, r#""RESOURCE_EXHAUSTED""#), [""; 0]);
    assert_eq!(one("60s", "0.9s", "10s", 2.0, r#""RESOURCE_EXHAUSTED""#), [""; 0]);
    let default = policy(&[name("a.B", "")], "60s", "1s", "10s", 1.3, r#""ABORTED""#);
    assert_eq!(said(&[&default]), ["risky-code-in-service-default"]);
}

#[test]
fn a_deadline_may_be_retried_where_attempts_are_shorter_than_the_operation() {
    let settings = gax_retry::RetrySettings::builder()
        .total_timeout(std::time::Duration::from_secs(60))
        .initial_rpc_timeout(std::time::Duration::from_secs(20))
        .build()
        .unwrap();
    let table =
        RetryTable::builder().method("a.B/C", settings, gax_retry::Code::DeadlineExceeded).build().unwrap();
    assert_eq!(Linter::new().run(&table), []);
}

#[test]
fn timeouts() {
    let names = [name("a.B", "C")];
    assert_eq!(said(&[&timeout_only(&names, "4.999s")]), ["short-timeout"]);
    assert_eq!(said(&[&timeout_only(&names, "3600s")]), [""; 0]);
    assert_eq!(said(&[&timeout_only(&names, "3600.001s")]), ["long-unary-timeout"]);
    assert_eq!(said(&[r#""name": [{"service": "a.B"}]"#]), ["no-timeout"]);
}

#[test]
fn attempts_beyond_grpcs_five() {
    let entry = sound(&[name("a.B", "C")]).replace("\"maxAttempts\": 5", "\"maxAttempts\": 6");
    let findings = Linter::new().run(&table(&[&entry]));
    assert_eq!(
        findings[0].to_string(),
        "line 1, column 114: warning[max-attempts-above-5]: gRPC itself makes 5 attempts at most, not 6; write a number from 2 to 5, and longer delays if the retries \
         have to last as long"
    );
}

#[test]
fn entries_that_say_the_same() {
    let (one, other) = (sound(&[name("a.B", "C")]), sound(&[name("a.B", "D")]));
    let findings = Linter::new().run(&table(&[&one, &other]));
    assert_eq!(rules(&findings), ["same-settings-two-entries"]);
    assert_eq!(
        findings[0].message(),
        "this entry has the same settings as an earlier one (at line 1, column 19)"
    );
    let faster = timeout_only(&[name("a.B", "D")], "59s");
    assert_eq!(said(&[&one, &faster]), [""; 0]);
}

#[test]
fn names_that_nothing_can_have() {
    for (service, method) in [
        ("a.B.", "C"),
        (" a.B", "C"),
        ("a..B", "C"),
        ("a.B/C", ""),
        ("a.B", " C"),
        ("google.cloud.workflows.v1", "C"),
    ] {
        let entry = timeout_only(&[name(service, method)], "60s");
        assert_eq!(said(&[&entry]), ["malformed-name"], "{service:?} {method:?}");
    }
    for (service, method) in [("B", "C"), ("a.v1.b", "C"), ("a.b_2.C", "d_2"), ("a.v1beta1CloudRedis", "C")] {
        let entry = timeout_only(&[name(service, method)], "60s");
        assert_eq!(said(&[&entry]), [""; 0], "{service:?} {method:?}");
    }
}

#[test]
fn mixins_are_known_under_their_host() {
    let mixin = || name("google.longrunning.Operations", "GetOperation");
    assert_eq!(said(&[&timeout_only(&[mixin(), name("a.B", "C")], "60s")]), ["mixin-name"]);
    assert_eq!(said(&[&timeout_only(&[mixin()], "60s")]), [""; 0], "the mixin's own table");
}

#[test]
fn an_entry_for_everything_is_not_applied_by_google() {
    let findings = Linter::new().run(&table(&[&timeout_only(&["{}".to_owned()], "60s")]));
    assert_eq!(rules(&findings), ["catch-all-name"]);
    assert_eq!(findings[0].severity(), Severity::Note);
}
