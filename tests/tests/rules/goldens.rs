//! Plans of recorded unary operations of gax-java come out as these were recorded. `gax conformance` runs the records of every
//! kind, and its tests have all of them (`crates/cli/src/conformance/goldens.rs`).
#![expect(clippy::unwrap_used, reason = "a recorded case that can't be read fails its test")]

use gax_retry::{
    Attempt, AttemptPlan, Code, CodeSet, Compatibility, NoJitter, Policy, Response, RetrySettings, StopReason,
};
use serde_json::Value;
use std::time::Duration;

const CASES: &str = include_str!("../../data/gax_java_algorithm.jsonl");

pub(crate) fn cases() -> Vec<Value> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Settings as a client has them; `None` for numbers that they can't hold.
pub(crate) fn settings(case: &Value) -> Option<RetrySettings> {
    let duration = |name: &str| {
        let us = u64::try_from(case[name].as_i64().unwrap()).ok()?;
        Some(Some(Duration::from_micros(us)).filter(|duration| !duration.is_zero()))
    };
    RetrySettings::builder()
        .total_timeout(duration("total_timeout_us")?)
        .initial_retry_delay(duration("initial_retry_delay_us")?.unwrap_or_default())
        .retry_delay_multiplier(case["retry_delay_multiplier"].as_f64()?)
        .max_retry_delay(duration("max_retry_delay_us")?)
        .max_attempts(u32::try_from(case["max_attempts"].as_i64()?).ok().filter(|most| *most > 0))
        .initial_rpc_timeout(duration("initial_rpc_timeout_us")?)
        .rpc_timeout_multiplier(case["rpc_timeout_multiplier"].as_f64()?)
        .max_rpc_timeout(duration("max_rpc_timeout_us")?)
        .build()
        .ok()
}

pub(crate) fn codes(names: &Value) -> CodeSet {
    let names = names.as_array().unwrap();
    names.iter().map(|name| name.as_str().unwrap().parse::<Code>().unwrap()).collect()
}

/// The script, with its last entry often enough for any case.
fn outcomes(case: &Value) -> Vec<Response> {
    let entries = case["script"].as_array().unwrap().iter().map(|entry| match entry["server_us"].as_u64() {
        Some(us) => {
            Response::after(Duration::from_micros(us), entry["code"].as_str().unwrap().parse().unwrap())
        }
        None => Response::none(),
    });
    let mut outcomes: Vec<_> = entries.collect();
    let last = *outcomes.last().unwrap();
    outcomes.resize(outcomes.len() + 100, last);
    outcomes
}

pub(crate) fn us(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap()
}

/// An attempt as it is recorded.
pub(crate) fn row(attempt: &Attempt) -> Value {
    serde_json::json!({
        "attempt": attempt.number(),
        "rpc_timeout_us": attempt.rpc_timeout().map_or(0, us),
        "retry_delay_us": us(attempt.delay()),
        "start_us": us(attempt.start()),
        "end_us": us(attempt.end()),
        "outcome": attempt.code().name(),
    })
}

/// The end of an operation as it is recorded.
pub(crate) fn end(reason: Option<StopReason>) -> &'static str {
    match reason {
        None => "success",
        Some(StopReason::NonRetryable) => "non_retryable",
        Some(StopReason::TotalTimeout) => "total_timeout",
        Some(StopReason::MaxAttempts) => "max_attempts",
        Some(StopReason::NoLimits) => "no_limits",
        Some(other) => other.as_str(),
    }
}

#[test]
fn plans_of_clients_settings_come_out_as_recorded() {
    let mut compared = 0;
    let mut unfit = Vec::new();
    for case in cases() {
        if case["kind"] != "unary" || !case["call_context"].is_null() {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let Some(settings) = settings(&case["settings"]) else {
            unfit.push(id.to_owned());
            continue;
        };
        let expected =
            if case["expected_callable"] == "same" { &case["expected"] } else { &case["expected_callable"] };
        let schedule =
            Policy::with_compatibility(&settings, codes(&case["retryable_codes"]), Compatibility::GaxJava);
        let plan = AttemptPlan::new(&schedule, &outcomes(&case), &mut NoJitter);
        compared += 1;
        if expected.is_null() {
            assert!(!plan.endless().is_empty(), "{id}");
            continue;
        }
        let rows: Vec<_> = plan.attempts().iter().map(row).collect();
        assert_eq!(Value::from(rows), expected["attempts"], "{id}");
        assert_eq!(
            (end(plan.stop_reason()), us(plan.end())),
            (expected["end"].as_str().unwrap(), expected["end_us"].as_i64().unwrap()),
            "{id}"
        );
    }
    // Its multiplier is not a number, which `RetrySettings` refuse.
    assert_eq!(unfit, ["unary-06953"]);
    assert_eq!(compared, 740);
}
