//! What is stored is read again as it was, and what has no meaning is refused.

use super::StoredCall;
use crate::{
    Attempt, AttemptPlan, Code, CodeSet, Compatibility, Delivery, Hedging, LimitExceeded, NoJitter,
    NotAttempted, Policy, RetrySettings, StopReason,
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
        (r#"{"total_timeout":"0s"}"#, "retry settings are not valid: total_timeout is 0ms"),
        (r#"{"max_attempts":0}"#, "retry settings are not valid: max_attempts is 0"),
        (r#"{"retry_delay_multiplier":0.5}"#, "retry settings are not valid: retry_delay_multiplier is 0.5"),
    ] {
        let error = refused::<RetrySettings>(stored);
        assert!(error.starts_with(reason), "{stored}: {error}");
    }
}

#[test]
fn an_rpc_is_stored_in_one_table() {
    let stored = concat!(
        r#"{"total_timeout":"5s","codes":["ABORTED","UNAVAILABLE"],"#,
        r#""hedging":{"max_attempts":3,"delay":"300ms","non_fatal_codes":["UNAVAILABLE"],"allow_non_idempotent":true},"#,
        r#""batching":{"element_count_threshold":100,"request_byte_threshold":1048576,"delay_threshold":"10ms","#,
        r#""max_outstanding_elements":1000,"limit_exceeded":"throw-exception"}}"#
    );
    let call = read::<StoredCall>(stored);
    assert_eq!(call.codes, CodeSet::from([Code::Aborted, Code::Unavailable]));
    let hedging = Hedging::new(3).delay(300 * MS).non_fatal_codes(Code::Unavailable).allow_non_idempotent();
    assert_eq!(call.hedging, Some(hedging));
    assert_eq!(call.batching.as_ref().unwrap().limit_exceeded(), LimitExceeded::ThrowException);
    assert_eq!(text(&call), stored);
    assert_eq!(
        read::<StoredCall>(r#"{"codes":["unavailable",10]}"#).codes,
        CodeSet::from([Code::Aborted, Code::Unavailable])
    );
    for (stored, reason) in [
        (r#"{"codes":["NOPE"]}"#, r#""NOPE" is not a gRPC status code"#),
        (r#"{"codes":[99]}"#, r#""99" is not a gRPC status code"#),
        (r#"{"retryable_codes":[]}"#, "unknown field `retryable_codes`"),
        (r#"{"hedging":{"max_attempts":0}}"#, "hedging.max_attempts is 0"),
        (r#"{"hedging":{"max_attempts":2,"percentile":1.5}}"#, "hedging.percentile is 1.5"),
        (r#"{"hedging":{"max_attempts":2,"dely":"1s"}}"#, "unknown field `dely`"),
    ] {
        let error = refused::<StoredCall>(stored);
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
        StopReason::ServerDelayExceedsBudget,
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
