//! Stored options and settings are read again as they were, and those without a meaning are refused.

use crate::settings::call_settings::CallSettings;
use gax_driver::CallOptions;
use gax_retry::settings::Override;
use gax_retry::{Code, CodeSet, Hedging, LimitExceeded};
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

#[test]
fn an_rpc_is_stored_in_one_table() {
    let stored = concat!(
        r#"{"total_timeout":"5s","codes":["ABORTED","UNAVAILABLE"],"#,
        r#""hedging":{"max_attempts":3,"delay":"300ms","non_fatal_codes":["UNAVAILABLE"],"allow_non_idempotent":true},"#,
        r#""batching":{"element_count_threshold":100,"request_byte_threshold":1048576,"delay_threshold":"10ms","#,
        r#""max_outstanding_elements":1000,"limit_exceeded":"throw-exception"}}"#
    );
    let call = read::<CallSettings>(stored);
    assert_eq!(call.retryable_codes(), CodeSet::from([Code::Aborted, Code::Unavailable]));
    let hedging = Hedging::new(3).delay(300 * MS).non_fatal_codes(Code::Unavailable).allow_non_idempotent();
    assert_eq!(call.hedging(), Some(hedging));
    assert_eq!(call.batching_settings().unwrap().limit_exceeded(), LimitExceeded::ThrowException);
    assert_eq!(text(&call), stored);
    assert_eq!(
        read::<CallSettings>(r#"{"codes":["unavailable",10]}"#).retryable_codes(),
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
        let error = refused::<CallSettings>(stored);
        assert!(error.starts_with(reason), "{stored}: {error}");
    }
}

#[test]
fn timeouts_of_streams_are_stored() {
    let stored = r#"{"max_attempts":3,"codes":["UNAVAILABLE"],"wait_timeout":"30s","idle_timeout":"1500ms"}"#;
    let call = read::<CallSettings>(stored);
    assert_eq!(call.method.wait_timeout(), Some(30_000 * MS));
    assert_eq!(call.method.idle_timeout(), Some(1500 * MS));
    assert_eq!(text(&call), stored);
    let error = refused::<CallSettings>(r#"{"idle_timeout":"0s"}"#);
    assert!(error.starts_with("a timeout of zero is no limit"), "{error}");
    let error = refused::<CallSettings>(r#"{"wait_timout":"3s"}"#);
    assert!(error.ends_with("`batching`, `wait_timeout`, `idle_timeout`"), "{error}");
}

#[test]
fn the_options_of_a_call_have_the_names_of_the_setters() {
    let stored = concat!(
        r#"{"timeout":"2s","attempt_timeout":"500ms","max_attempts":3,"initial_retry_delay":"0s","#,
        r#""retry_delay_multiplier":2.0,"max_retry_delay":"1s","codes":["ABORTED"],"report":true,"#,
        r#""retry_settings":{"total_timeout":"10s"}}"#
    );
    let options = read::<CallOptions>(stored);
    assert_eq!(options.overrides.total_timeout(), Override::Set(2000 * MS));
    assert_eq!(options.overrides.rpc_timeout(), Override::Set(500 * MS));
    assert_eq!(options.overrides.max_attempts(), Override::Set(3));
    assert_eq!(options.overrides.initial_retry_delay(), Some(Duration::ZERO));
    assert_eq!(options.retryable_codes, Some(Ok(CodeSet::from(Code::Aborted))));
    assert_eq!(options.retry_settings.as_ref().unwrap().total_timeout(), Some(10_000 * MS));
    assert_eq!(text(&options), stored);
}

#[test]
fn an_option_is_unset_set_or_turned_off() {
    let nothing = read::<CallOptions>("{}");
    assert_eq!(
        (nothing.overrides.is_empty(), nothing.retryable_codes.clone(), nothing.report),
        (true, None, None)
    );
    assert_eq!(text(&nothing), "{}");
    let stored =
        r#"{"without_timeout":true,"without_attempt_timeout":true,"without_max_attempts":true,"codes":[]}"#;
    let options = read::<CallOptions>(stored);
    assert_eq!(options.overrides.total_timeout(), Override::Disabled);
    assert_eq!(options.overrides.rpc_timeout(), Override::Disabled);
    assert_eq!(options.overrides.max_attempts(), Override::Disabled);
    assert_eq!(options.retryable_codes, Some(Ok(CodeSet::EMPTY)));
    assert_eq!(text(&options), stored);
}

#[test]
fn options_that_have_no_meaning_are_refused_where_they_stand() {
    for (stored, reason, column) in [
        (
            r#"{"max_atempts":3}"#,
            "unknown field `max_atempts`, expected one of `timeout`, `without_timeout`",
            15,
        ),
        (r#"{"total_timeout":"3s"}"#, "unknown field `total_timeout`", 17),
        (r#"{"timeout":"0s","report":true}"#, "a timeout of zero is no limit; leave it out", 16),
        (r#"{"attempt_timeout":"0ms"}"#, "a timeout of zero is no limit; leave it out", 26),
        (
            r#"{"timeout":"3s","without_timeout":true}"#,
            "timeout and without_timeout exclude each other; leave one out",
            41,
        ),
        (r#"{"max_attempts":0}"#, "max_attempts must be at least 1 (the first attempt counts)", 19),
        (
            r#"{"retry_delay_multiplier":0.9}"#,
            "a multiplier must be a finite number, at least 1, not 0.9",
            31,
        ),
        (
            r#"{"initial_retry_delay":"2s","max_retry_delay":"1s"}"#,
            "retry settings are not valid: max_retry_delay is 1s, but must not be shorter than initial_retry_delay (2s)",
            53,
        ),
        (
            r#"{"retry_settings":{"initial_retry_delay":"2s"},"max_retry_delay":"1s"}"#,
            "retry settings are not valid: max_retry_delay is 1s",
            72,
        ),
        (r#"{"codes":["NOPE"]}"#, r#""NOPE" is not a gRPC status code"#, 17),
    ] {
        // In a list, as in a program's configuration. At the top of a text serde_json reports no place for some errors.
        let error = serde_json::from_str::<[CallOptions; 1]>(&format!("[{stored}]")).unwrap_err();
        assert!(error.to_string().starts_with(reason), "{stored}: {error}");
        assert_eq!((error.line(), error.column()), (1, column), "{stored}");
    }
    let no_time = CallOptions::new().timeout(Duration::ZERO);
    let error = serde_json::to_string(&no_time).unwrap_err().to_string();
    assert_eq!(error, "a timeout of zero can't be stored: it means that no time is left");
}
