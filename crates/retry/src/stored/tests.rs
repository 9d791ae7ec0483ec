//! Stored values are read again as they were, and values without a meaning are refused.

use crate::{
    Attempt, AttemptPlan, Code, Compatibility, Delivery, NoJitter, NotAttempted, Policy, RetryBudget,
    RetrySettings, StopReason,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    let error = serde_json::from_str::<T>(text).unwrap_err().to_string();
    error.split(" at line ").next().unwrap_or_default().to_owned()
}

fn all_set() -> RetrySettings {
    RetrySettings::builder()
        .total_timeout(60_000 * MS)
        .initial_retry_delay(100 * MS)
        .retry_delay_multiplier(1.3)
        .max_retry_delay(10_000 * MS)
        .max_server_delay(70_000 * MS)
        .max_attempts(5)
        .jittered(false)
        .initial_rpc_timeout(1500 * MS)
        .rpc_timeout_multiplier(2.0)
        .max_rpc_timeout(Duration::new(3, 1))
        .build()
        .unwrap()
}

#[test]
fn settings_have_the_words_of_tables() {
    let stored = concat!(
        r#"{"total_timeout":"60s","initial_retry_delay":"100ms","retry_delay_multiplier":1.3,"#,
        r#""max_retry_delay":"10s","max_server_delay":"70s","max_attempts":5,"jittered":false,"#,
        r#""initial_rpc_timeout":"1500ms","rpc_timeout_multiplier":2.0,"max_rpc_timeout":"3000000001ns"}"#
    );
    assert_eq!(text(&all_set()), stored);
    assert_eq!(read::<RetrySettings>(stored), all_set());
}

#[test]
fn what_is_absent_is_unset() {
    assert_eq!(text(&RetrySettings::default()), "{}");
    assert_eq!(read::<RetrySettings>("{}"), RetrySettings::default());
    let at_once = read::<RetrySettings>(r#"{"initial_retry_delay":"0","max_attempts":null}"#);
    assert_eq!((at_once.initial_retry_delay(), at_once.max_attempts()), (Some(Duration::ZERO), None));
}

#[test]
fn one_timeout_is_that_of_the_whole_and_of_each_attempt() {
    let settings = read::<RetrySettings>(r#"{"timeout":"1m 30s","max_rpc_timeout":"2m"}"#);
    let minutes = Some(90_000 * MS);
    assert_eq!((settings.total_timeout(), settings.initial_rpc_timeout()), (minutes, minutes));
    assert_eq!(settings.max_rpc_timeout(), Some(120_000 * MS));
}

#[test]
fn settings_that_have_no_meaning_are_refused() {
    for (stored, reason) in [
        (r#"{"max_atempts":3}"#, "unknown field `max_atempts`, expected one of `timeout`, `total_timeout`"),
        (r#"{"total_timeout":60}"#, "invalid type: integer `60`, expected a string"),
        (
            r#"{"total_timeout":"60"}"#,
            r#""60" has no unit after 60; write a duration such as 1500ms, 1.5s, 2m or 1h30m"#,
        ),
        (r#"{"total_timeout":"0s"}"#, "a timeout of zero is no limit; leave it out, or write a longer one"),
        (r#"{"max_attempts":0}"#, "max_attempts must be at least 1 (the first attempt counts)"),
        (r#"{"retry_delay_multiplier":0.5}"#, "a multiplier must be a finite number, at least 1, not 0.5"),
        (
            r#"{"initial_rpc_timeout":"2s","max_rpc_timeout":"1s"}"#,
            "retry settings are not valid: max_rpc_timeout is 1s, but must not be shorter than initial_rpc_timeout (2s)",
        ),
    ] {
        let error = refused::<RetrySettings>(stored);
        assert!(error.starts_with(reason), "{stored}: {error}");
    }
}

#[test]
fn rows_have_milliseconds() {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_micros(200_500))
        .retry_delay_multiplier(2.0)
        .initial_rpc_timeout(1500 * MS)
        .rpc_timeout_multiplier(2.0)
        .total_timeout(5000 * MS)
        .build()
        .unwrap();
    let plan = AttemptPlan::new(&Policy::new(&settings, Code::DeadlineExceeded), &[], &mut NoJitter);
    let stored = concat!(
        r#"[{"attempt":1,"rpc_timeout_ms":1500,"retry_delay_ms":0,"start_ms":0,"end_ms":1500,"code":"DEADLINE_EXCEEDED"},"#,
        r#"{"attempt":2,"rpc_timeout_ms":3000,"retry_delay_ms":200.5,"start_ms":1700.5,"end_ms":4700.5,"code":"DEADLINE_EXCEEDED"}]"#
    );
    assert_eq!(text(&plan.attempts()), stored);
    assert_eq!(read::<Vec<Attempt>>(stored), plan.attempts());
    let refused = plan.not_attempted().unwrap();
    assert_eq!(text(&refused), r#"{"attempt":3,"retry_delay_ms":401}"#);
    assert_eq!(read::<NotAttempted>(&text(&refused)), refused);
}

#[test]
fn names_are_those_that_are_printed() {
    for reason in [
        StopReason::NonRetryable,
        StopReason::TotalTimeout,
        StopReason::MaxAttempts,
        StopReason::NoLimits,
        StopReason::NotReplayable,
        StopReason::Committed,
        StopReason::Throttled,
        StopReason::Pushback,
        StopReason::ServerDelayExceedsTotalTimeout,
        StopReason::InvalidOptions,
        StopReason::ChannelClosed,
        StopReason::Cancelled,
    ] {
        assert_eq!(text(&reason), format!("\"{reason}\""));
        assert_eq!(read::<StopReason>(&text(&reason)), reason);
    }
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        assert_eq!(text(&compatibility), format!("\"{compatibility}\""));
        assert_eq!(read::<Compatibility>(&text(&compatibility)), compatibility);
    }
    assert_eq!(text(&Delivery::NotProcessed), "\"NOT_PROCESSED\"");
    assert_eq!(read::<Delivery>("\"UNKNOWN\""), Delivery::Unknown);
}

#[test]
fn a_budget_is_stored_as_its_limits() {
    let now = || Duration::ZERO;
    let tokens = RetryBudget::tokens(10, 0.1);
    tokens.failed();
    let stored = r#"{"max_tokens":10.0,"token_ratio":0.1}"#;
    assert_eq!(text(&tokens), stored);
    let again = read::<RetryBudget>(r#"{"max_tokens":10,"token_ratio":0.1}"#);
    assert_eq!((again.available(now), text(&again)), (10.0, stored.to_owned()));

    let ratio = RetryBudget::ratio(0.2).min_per_second(3);
    let stored = r#"{"ratio":0.2,"min_per_second":3}"#;
    assert_eq!(text(&ratio), stored);
    assert_eq!(
        (text(&read::<RetryBudget>(stored)), read::<RetryBudget>(stored).available(now)),
        (stored.to_owned(), 30.0)
    );
    assert_eq!(text(&read::<RetryBudget>(r#"{"ratio":0.5}"#)), r#"{"ratio":0.5,"min_per_second":10}"#);
    // The most of each that there is.
    for budget in
        [RetryBudget::tokens(f64::MAX, f64::MAX), RetryBudget::ratio(f64::MAX), RetryBudget::tokens(0, 0.0)]
    {
        assert_eq!(text(&read::<RetryBudget>(&text(&budget))), text(&budget));
    }
}

#[test]
fn budgets_that_have_no_meaning_are_refused() {
    let either = "a retry budget has either max_tokens and token_ratio, or ratio";
    for (stored, reason) in [
        ("{}", either),
        (r#"{"max_tokens":10}"#, either),
        (r#"{"max_tokens":10,"token_ratio":0.1,"ratio":0.2}"#, either),
        (r#"{"max_tokens":10,"token_ratio":0.1,"min_per_second":1}"#, either),
        (r#"{"min_per_second":1}"#, either),
        (r#"{"maxTokens":10}"#, "unknown field `maxTokens`, expected one of `max_tokens`, `token_ratio`"),
        (
            r#"{"max_tokens":0,"token_ratio":0.1}"#,
            "max_tokens is 0, but must be a number from 0.001 to 1000000000",
        ),
        (r#"{"max_tokens":2e9,"token_ratio":0.1}"#, "max_tokens is 2000000000, but must be a number from"),
        (r#"{"max_tokens":9,"token_ratio":-0.1}"#, "token_ratio is -0.1, but must be a number from 0 to"),
        (r#"{"ratio":-1}"#, "ratio is -1, but must be a number from 0 to 1000000000"),
        (r#"{"ratio":0.2,"min_per_second":-1}"#, "invalid value: integer `-1`, expected u32"),
    ] {
        let error = refused::<RetryBudget>(stored);
        assert!(error.starts_with(reason), "{stored}: {error}");
    }
}

#[test]
fn codes_that_count_only_with_a_servers_delay_are_stored() {
    let settings = RetrySettings::builder().max_attempts(3).only_with_server_delay(Code::ResourceExhausted);
    let settings = settings.build().unwrap();
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(text, r#"{"only_with_server_delay":["RESOURCE_EXHAUSTED"],"max_attempts":3}"#);
    assert_eq!(serde_json::from_str::<RetrySettings>(&text).unwrap(), settings);
    let error = RetrySettings::builder().only_with_server_delay([99]).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "retry settings are not valid: only_with_server_delay is 99, but gRPC status codes are numbered from 0 to 16"
    );
}
