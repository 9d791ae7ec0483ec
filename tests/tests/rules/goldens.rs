//! Every recorded operation of gax-java comes out of the engine as it was recorded.
#![expect(clippy::unwrap_used, reason = "a recorded case that can't be read fails its test")]

use gax_retry::conformance::Runner;
use gax_retry::{
    AttemptPlan, Code, CodeSet, Compatibility, NoJitter, Policy, Response, RetrySettings, StopReason,
};
use serde_json::Value;
use std::time::Duration;

const CASES: &str = include_str!("../../data/gax_java_algorithm.jsonl");

fn cases() -> Vec<Value> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_case_comes_out_as_recorded() {
    let mut runner = Runner::new();
    runner.run_file("gax_java_algorithm.jsonl", CASES.as_bytes()).unwrap();
    let summary = runner.summary();
    let failures: Vec<_> = summary.failures().iter().map(ToString::to_string).collect();
    assert_eq!(failures, Vec::<String>::new());

    let count = |wanted: &str| {
        let of_kind = summary.categories().filter(|((kind, _), _)| *kind == wanted);
        of_kind.fold((0, 0), |(passed, compared), (_, counts)| {
            (passed + counts.passed(), compared + counts.compared())
        })
    };
    // 741 of the unary cases record the bare algorithm, all 811 what a call does.
    assert_eq!(count("unary"), (811, 741 + 811));
    assert_eq!(count("streaming"), (60, 60));
    assert_eq!(count("poll"), (73, 73));
    assert_eq!(count("validate"), (53, 53));
    assert_eq!(summary.passed(), cases().len());
    // Every recorded list of tracer calls is compared with what observers are told.
    let cases = cases();
    let lists = cases.iter().map(|case| {
        let records = ["expected", "expected_callable"].map(|name| case[name]["tracer"].is_array());
        records.into_iter().filter(|is_list| *is_list).count()
    });
    assert_eq!((summary.total().traced(), lists.sum::<usize>()), (59, 59));
}

/// The value at a path of keys and indexes, and all such paths that lead to a number or a text.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != "tracer") {
                leaves(field, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}/{index}"), found);
            }
        }
        Value::Number(_) | Value::String(_) | Value::Bool(_) => found.push(path.to_owned()),
        Value::Null => {}
    }
}

fn changed(value: &Value, by: i64) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_i64().unwrap() + by),
        Value::Bool(truth) => Value::from(!truth),
        other => Value::from(format!("{}_", other.as_str().unwrap())),
    }
}

#[test]
fn a_changed_number_or_word_makes_its_case_fail() {
    let mut changes = 0;
    for (index, case) in cases().iter().enumerate() {
        let mut paths = Vec::new();
        for part in ["expected", "expected_callable", "ok", "error"] {
            if let Some(value) = case.get(part) {
                leaves(value, &format!("/{part}"), &mut paths);
            }
        }
        paths.retain(|path| path != "/expected_callable");
        // One place a case, another one in each; all places of some cases.
        let (first, step) =
            if index % 50 == 0 { (0, 1) } else { (index % paths.len().max(1), paths.len().max(1)) };
        for path in paths.iter().skip(first).step_by(step) {
            let mut other = case.clone();
            let place = other.pointer_mut(path).unwrap();
            *place = changed(place, if index % 2 == 0 { 1 } else { -1 });
            let mut runner = Runner::new();
            runner.run_line(&other.to_string()).unwrap();
            assert_eq!(runner.summary().failed(), 1, "{}: {path}", case["id"]);
            changes += 1;
        }
    }
    assert!(changes > 1000, "{changes}");
}

/// Settings as a client has them; `None` for numbers that they can't hold.
fn settings(case: &Value) -> Option<RetrySettings> {
    let case = &case["settings"];
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

fn codes(case: &Value) -> CodeSet {
    let names = case["retryable_codes"].as_array().unwrap();
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

fn us(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap()
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
        let Some(settings) = settings(&case) else {
            unfit.push(id.to_owned());
            continue;
        };
        let expected =
            if case["expected_callable"] == "same" { &case["expected"] } else { &case["expected_callable"] };
        let schedule = Policy::with_compatibility(&settings, codes(&case), Compatibility::GaxJava);
        let plan = AttemptPlan::new(&schedule, &outcomes(&case), &mut NoJitter);
        compared += 1;
        if expected.is_null() {
            assert!(plan.endless().is_some(), "{id}");
            continue;
        }
        let rows: Vec<_> = plan
            .attempts()
            .iter()
            .map(|row| {
                serde_json::json!({
                    "attempt": row.number(),
                    "rpc_timeout_us": row.rpc_timeout().map_or(0, us),
                    "retry_delay_us": us(row.delay()),
                    "start_us": us(row.start()),
                    "end_us": us(row.end()),
                    "outcome": row.code().name(),
                })
            })
            .collect();
        assert_eq!(Value::from(rows), expected["attempts"], "{id}");
        let end = match plan.stop_reason() {
            None => "success",
            Some(StopReason::NonRetryable) => "non_retryable",
            Some(StopReason::TotalTimeout) => "total_timeout",
            Some(StopReason::MaxAttempts) => "max_attempts",
            Some(other) => other.as_str(),
        };
        assert_eq!(
            (end, us(plan.end())),
            (expected["end"].as_str().unwrap(), expected["end_us"].as_i64().unwrap()),
            "{id}"
        );
    }
    // Its multiplier is not a number, which `RetrySettings` refuse.
    assert_eq!(unfit, ["unary-06953"]);
    assert_eq!(compared, 740);
}
