use crate::RetrySettings;
use crate::settings::SettingsProblem;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

#[test]
fn unset_is_unset() {
    let settings = RetrySettings::builder().build().unwrap();
    assert_eq!(settings, RetrySettings::default());
    assert_eq!(settings.total_timeout(), None);
    assert_eq!(settings.max_attempts(), None);
    assert_eq!(settings.initial_retry_delay(), None);
    assert_eq!(settings.retry_delay_multiplier(), None);
    assert_eq!(settings.initial_rpc_timeout(), None);
    assert!(settings.jittered());
}

#[test]
fn every_problem_is_listed_with_its_field_and_value() {
    let error = RetrySettings::builder()
        .total_timeout(Duration::ZERO)
        .initial_retry_delay(200 * MS)
        .retry_delay_multiplier(f64::NAN)
        .max_retry_delay(100 * MS)
        .max_attempts(0)
        .initial_rpc_timeout(20 * MS)
        .rpc_timeout_multiplier(f64::INFINITY)
        .max_rpc_timeout(10 * MS)
        .build()
        .unwrap_err();
    let fields: Vec<_> = error.problems().iter().map(|problem| (problem.field(), problem.value())).collect();
    assert_eq!(
        fields,
        [
            ("total_timeout", "0ms"),
            ("retry_delay_multiplier", "NaN"),
            ("max_retry_delay", "100ms"),
            ("max_attempts", "0"),
            ("rpc_timeout_multiplier", "inf"),
            ("max_rpc_timeout", "10ms"),
        ]
    );
    let text = error.to_string();
    assert!(
        text.contains("max_retry_delay is 100ms, but must not be shorter than initial_retry_delay (200ms)")
    );
}

#[test]
fn a_multiplier_just_below_one_is_refused_and_one_is_not() {
    let just_below = 1.0_f64.next_down();
    assert!(RetrySettings::builder().retry_delay_multiplier(just_below).build().is_err());
    assert!(RetrySettings::builder().rpc_timeout_multiplier(just_below).build().is_err());
    assert!(RetrySettings::builder().retry_delay_multiplier(1.0).build().is_ok());
}

#[test]
fn a_maximum_is_compared_only_with_an_initial_delay_that_is_set() {
    assert!(RetrySettings::builder().max_retry_delay(10 * MS).build().is_ok());
    let short = RetrySettings::builder().initial_retry_delay(20 * MS).max_retry_delay(10 * MS);
    let error = short.clone().build().unwrap_err();
    assert_eq!(error.problems()[0].field(), "max_retry_delay");
    let grpc = short.retry_delay_multiplier(0.5);
    assert_eq!(grpc.clone().build().unwrap_err().problems().len(), 2);
    assert_eq!(grpc.clone().build_for_grpc().unwrap().initial_retry_delay(), Some(20 * MS));
    for multiplier in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = grpc.clone().retry_delay_multiplier(multiplier).total_timeout(Duration::ZERO);
        let error = error.build_for_grpc().unwrap_err();
        let fields: Vec<_> = error.problems().iter().map(SettingsProblem::field).collect();
        assert_eq!(fields, ["total_timeout", "retry_delay_multiplier"]);
    }
}

#[test]
fn a_logical_timeout_is_one_attempt_with_all_the_time() {
    let settings = RetrySettings::logical_timeout(5000 * MS);
    assert_eq!(settings.total_timeout(), Some(5000 * MS));
    assert_eq!(settings.initial_rpc_timeout(), Some(5000 * MS));
    assert_eq!(settings.max_rpc_timeout(), Some(5000 * MS));
    assert_eq!(settings.max_attempts(), Some(1));

    let built = RetrySettings::builder()
        .initial_retry_delay(7 * MS)
        .rpc_timeout_multiplier(3.0)
        .logical_timeout(5000 * MS)
        .build()
        .unwrap();
    assert_eq!(built, RetrySettings { initial_retry_delay: Some(7 * MS), ..settings });
}

#[test]
fn no_timeout_at_all_is_written_as_none() {
    let settings = RetrySettings::no_retry(MS).to_builder().total_timeout(None).max_attempts(None).build();
    assert_eq!(settings.unwrap().total_timeout(), None);
}

#[test]
fn a_timeout_of_zero_is_no_time() {
    let none = RetrySettings::no_retry(Duration::ZERO);
    assert_eq!(none.total_timeout(), Some(Duration::ZERO));
    assert_eq!(none, RetrySettings::logical_timeout(Duration::ZERO));
    let error = none.to_builder().build().unwrap_err();
    let fields: Vec<_> = error.problems().iter().map(SettingsProblem::field).collect();
    assert_eq!(fields, ["total_timeout"]);
}

#[test]
fn a_caller_can_only_shorten_the_total() {
    let settings = RetrySettings::no_retry(10 * MS);
    assert_eq!(settings.clone().bounded_by(20 * MS).total_timeout(), Some(10 * MS));
    assert_eq!(settings.bounded_by(5 * MS).total_timeout(), Some(5 * MS));
    assert_eq!(RetrySettings::default().bounded_by(5 * MS).total_timeout(), Some(5 * MS));
}
