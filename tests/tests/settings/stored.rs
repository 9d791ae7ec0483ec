//! Settings and reports by serde.

use gax_client::CallSettings;
use gax_driver::Retryer;
use gax_http::HttpCallOptions;
use std::time::Duration;
use tonic::Status;
use tonic_gax::{
    CallOptions, Code, CodeSet, Hedging, OperationOptions, RetryBudget, RetrySettings, StopReason,
};

#[test]
fn settings_of_an_rpc_are_read_as_they_were_stored() {
    let settings = RetrySettings::builder()
        .total_timeout(Duration::from_secs(30))
        .initial_retry_delay(Duration::from_millis(200))
        .max_attempts(4)
        .build()
        .unwrap();
    let mut call = CallSettings::new(settings, [Code::Unavailable, Code::Aborted]);
    call.set_hedging(Hedging::new(2).percentile(0.95).non_fatal_codes([tonic::Code::Unavailable]));
    let stored = serde_json::to_string(&call).unwrap();
    assert_eq!(
        stored,
        concat!(
            r#"{"total_timeout":"30s","initial_retry_delay":"200ms","max_attempts":4,"#,
            r#""codes":["ABORTED","UNAVAILABLE"],"#,
            r#""hedging":{"max_attempts":2,"percentile":0.95,"non_fatal_codes":["UNAVAILABLE"]}}"#
        )
    );
    assert_eq!(serde_json::from_str::<CallSettings>(&stored).unwrap(), call);
    let nothing = CallSettings::new(RetrySettings::default(), CodeSet::EMPTY);
    assert_eq!(serde_json::from_str::<CallSettings>("{}").unwrap(), nothing);
}

#[test]
fn options_of_a_call_are_read_as_they_were_stored() {
    let all = CallOptions::new()
        .timeout(Duration::from_secs(2))
        .without_attempt_timeout()
        .max_attempts(3)
        .max_retry_delay(Duration::from_millis(1500))
        .retryable_codes([tonic::Code::Aborted])
        .retry_settings(RetrySettings::no_retry(Duration::from_secs(9)))
        .report(false);
    let stored = serde_json::to_string(&all).unwrap();
    assert_eq!(
        stored,
        concat!(
            r#"{"timeout":"2s","without_attempt_timeout":true,"max_attempts":3,"max_retry_delay":"1500ms","#,
            r#""codes":["ABORTED"],"report":false,"#,
            r#""retry_settings":{"timeout":"9s","max_attempts":1}}"#
        )
    );
    assert_eq!(serde_json::from_str::<CallOptions>(&stored).unwrap(), all);
    assert_eq!(serde_json::from_str::<CallOptions>("{}").unwrap(), CallOptions::new());
    let error = serde_json::to_string(&CallOptions::new().retryable_codes([99])).unwrap_err().to_string();
    assert!(error.starts_with("\"99\" is not a gRPC status code"), "{error}");
}

#[test]
fn limits_of_an_http_request_are_read_as_they_were_stored() {
    let none = HttpCallOptions::new();
    for (options, stored) in [
        (none, "{}"),
        (none.max_replay_bytes(0), r#"{"max_replay_bytes":0}"#),
        (none.without_replay_limit(), r#"{"without_replay_limit":true}"#),
        (none.without_body_idle_timeout(), r#"{"without_body_idle_timeout":true}"#),
        (
            none.max_replay_bytes(65536)
                .max_response_buffer(0)
                .body_idle_timeout(Duration::from_millis(1500)),
            r#"{"max_replay_bytes":65536,"max_response_buffer":0,"body_idle_timeout":"1500ms"}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&options).unwrap(), stored);
        assert_eq!(serde_json::from_str::<HttpCallOptions>(stored).unwrap(), options);
    }
    let error = serde_json::to_string(&none.body_idle_timeout(Duration::ZERO)).unwrap_err().to_string();
    assert_eq!(error, "a timeout of zero can't be stored: it means that no time is left");
}

#[test]
fn limits_of_an_http_request_that_have_no_meaning_are_refused_where_they_stand() {
    for (stored, reason, column) in [
        (
            r#"{"max_replay_byte":1}"#,
            "unknown field `max_replay_byte`, expected one of `max_replay_bytes`",
            19,
        ),
        (r#"{"body_idle_timeout":"0s"}"#, "a timeout of zero is no limit; leave it out", 27),
        (r#"{"body_idle_timeout":"30"}"#, "\"30\" has no unit", 27),
        (r#"{"max_response_buffer":-1}"#, "invalid value: integer `-1`", 26),
        (
            r#"{"body_idle_timeout":"3s","without_body_idle_timeout":true}"#,
            "body_idle_timeout and without_body_idle_timeout exclude each other; leave one out",
            61,
        ),
        (
            r#"{"max_replay_bytes":1,"without_replay_limit":true}"#,
            "max_replay_bytes and without_replay_limit exclude each other; leave one out",
            52,
        ),
    ] {
        let error = serde_json::from_str::<[HttpCallOptions; 1]>(&format!("[{stored}]")).unwrap_err();
        assert!(error.to_string().starts_with(reason), "{stored}: {error}");
        assert_eq!((error.line(), error.column()), (1, column), "{stored}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_was_read_limits_retries() {
    let budget: RetryBudget = serde_json::from_str(r#"{"max_tokens": 4, "token_ratio": 0.1}"#).unwrap();
    let settings = RetrySettings::builder().max_attempts(5).build().unwrap();
    let retryer =
        Retryer::new(&settings, [Code::Unavailable]).options(OperationOptions::new().retry_budget(budget));
    let refused = retryer.run(|_| async { Err::<(), _>(Status::unavailable("down")) }).await.unwrap_err();
    // Two failures take two of four tokens; more than half have to be there.
    assert_eq!(refused.report().attempt_count(), 2);
    assert_eq!(refused.report().stop_reason(), Some(StopReason::Throttled));
}

#[test]
fn what_is_no_code_can_not_be_stored() {
    let call = CallSettings::new(RetrySettings::default(), [99]);
    let error = serde_json::to_string(&call).unwrap_err().to_string();
    assert!(error.starts_with("\"99\" is not a gRPC status code"), "{error}");
}

#[test]
fn a_number_that_is_no_code_is_a_problem_of_hedging() {
    let problems = Hedging::new(2).non_fatal_codes([99]).problems();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["hedging.non_fatal_codes is 99, but must be a gRPC status code (0 to 16)"]);
}

#[tokio::test(start_paused = true)]
async fn a_report_has_its_attempts_in_milliseconds() {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(100))
        .max_attempts(2)
        .jittered(false)
        .build()
        .unwrap();
    let retryer = Retryer::new(&settings, [Code::Unavailable]).named("redis: SET");
    let refused = retryer.run(|_| async { Err::<(), _>(Status::unavailable("not now")) }).await.unwrap_err();
    assert_eq!(
        serde_json::to_string(refused.report()).unwrap(),
        concat!(
            r#"{"method":"redis: SET","attempts":["#,
            r#"{"attempt":1,"rpc_timeout_ms":null,"retry_delay_ms":0,"start_ms":0,"end_ms":0,"code":"UNAVAILABLE"},"#,
            r#"{"attempt":2,"rpc_timeout_ms":null,"retry_delay_ms":100,"start_ms":100,"end_ms":100,"code":"UNAVAILABLE"}],"#,
            r#""not_attempted":null,"stop_reason":"MAX_ATTEMPTS","end_ms":100,"delivery":"UNKNOWN"}"#
        )
    );
}
