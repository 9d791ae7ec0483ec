//! Recorded polls of gax-java, made by the generated client.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a recorded case that can't be read fails its test"
)]

use super::replies::{GET, START, exported, request, running};
use crate::rules::goldens::{cases, settings, us};
use gax_client::longrunning::LongRunningError;
use gax_retry::{Attempt, Code, CodeSet, Compatibility, RetrySettings, StopReason};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tonic::Request;
use tonic_gax::{CallOptions, OperationOptions, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_gax::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings,
};
use tonic_gax_tests::{Reply, Script, VirtualServer};

/// Why a case can't be put to a client.
type Unfit = &'static str;

fn polling(case: &Value) -> Result<RetrySettings, Unfit> {
    let attempts = case["expected"]["attempts"].as_array().ok_or("an attempt hangs for ever")?;
    let times = |row: &Value| ["start_us", "end_us"].map(|name| row[name].as_i64().unwrap());
    if attempts.iter().flat_map(times).any(|time| time % 1000 != 0) {
        return Err("the server's time is no whole number of milliseconds");
    }
    if case["initial_answered_before_first_look"] == true {
        return Err("a race in Java's own threads");
    }
    let polling = settings(&case["settings"]).ok_or("the settings hold no number")?;
    if polling.total_timeout().is_none() && polling.max_attempts().is_none() {
        return Err("stub settings refuse polling without a limit");
    }
    Ok(polling.to_builder().jittered(false).build().unwrap())
}

fn client(
    case: &Value,
    polling: RetrySettings,
    server: &VirtualServer,
) -> AssetServiceClient<tonic::transport::Channel> {
    let mut builder = AssetServiceStubSettings::builder();
    let operation = builder.export_assets_operation();
    operation.set_polling_settings(polling);
    // Recorded without settings of the calls.
    let calls = operation.initial_call_settings_mut();
    calls.set_retry_settings(RetrySettings::default()).set_retryable_codes(CodeSet::EMPTY);
    let settings = AssetServiceSettings::create(builder.build().unwrap()).with_options(
        OperationOptions::new().compatibility(Compatibility::GaxJava).without_jitter().retries_enabled(false),
    );
    assert_eq!(case["kind"], "poll");
    AssetServiceClient::with_settings(server.channel(), settings)
}

fn script(case: &Value) -> Script {
    let entries = case["script"].as_array().unwrap();
    let step = |entry: &Value| {
        let after = Duration::from_micros(entry["server_us"].as_u64().unwrap());
        let reply = match entry["result"].as_str().unwrap() {
            "NOT_DONE" => Reply::message(&running()),
            "DONE" => Reply::message(&exported()),
            code => Reply::code(tonic::Code::from(i32::from(code.parse::<Code>().unwrap()))),
        };
        (after, reply)
    };
    let last = step(entries.last().unwrap());
    let polls = entries[1..].iter().map(step).chain(std::iter::repeat_n(last, 400));
    Script::new().on(START, [step(&entries[0])]).on(GET, polls)
}

/// A poll as it is recorded. The timeout of Java's context stands in the record of each, and is a call's own here.
fn row(attempt: &Attempt, outcome: &str, context: Option<Duration>) -> Value {
    let timeout = [attempt.rpc_timeout(), context].into_iter().flatten().min();
    serde_json::json!({
        "attempt": attempt.number(),
        "rpc_timeout_us": timeout.map_or(0, us),
        "retry_delay_us": us(attempt.delay()),
        "start_us": us(attempt.start()),
        "end_us": us(attempt.end()),
        "outcome": outcome,
    })
}

async fn compare(case: &Value, polling: RetrySettings) {
    let id = &case["id"];
    let server = VirtualServer::start(script(case));
    let client = client(case, polling, &server);
    let context = case["call_context"]["timeout_us"].as_u64().map(Duration::from_micros);
    let options = context.map_or(CallOptions::new(), |timeout| CallOptions::new().attempt_timeout(timeout));
    let mut export = client.export_assets_operation(Request::new(request()).with_call_options(options));
    let result = (&mut export).await;
    let report = export.report().unwrap();
    let last = report.attempt_count();
    let rows = report.attempts().iter().map(|attempt| {
        let outcome = match attempt.code() {
            Code::Ok if result.is_ok() && attempt.number() == last => "DONE",
            Code::Ok => "NOT_DONE",
            code => code.name(),
        };
        row(attempt, outcome, context)
    });
    let rows: Vec<Value> = rows.collect();
    let expected = case["expected"]["attempts"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len(), "{id}");
    assert_eq!(rows, *expected, "{id}");
    for (arrival, row) in server.arrivals().iter().zip(expected) {
        let timeout = row["rpc_timeout_us"].as_u64().filter(|timeout| *timeout > 0);
        assert!(timeout.is_none() || arrival.timeout() == timeout.map(|timeout| timeout / 1000), "{id}");
    }
    let end = match &result {
        Ok(_) => "done",
        Err(LongRunningError::PollingTimedOut(end)) => match end.limit() {
            Some(StopReason::TotalTimeout) => "cancelled_total_timeout",
            Some(StopReason::MaxAttempts) => "cancelled_max_attempts",
            limit => panic!("{id} {limit:?}"),
        },
        Err(LongRunningError::PollFailed(_) | LongRunningError::NotStarted(_)) => "error",
        Err(other) => panic!("{id} {other}"),
    };
    assert_eq!(end, case["expected"]["end"].as_str().unwrap(), "{id}");
}

#[tokio::test(start_paused = true)]
async fn clients_make_the_polls_that_were_recorded_of_java_s() {
    let mut counts: BTreeMap<Unfit, u32> = BTreeMap::new();
    for case in cases().into_iter().filter(|case| case["kind"] == "poll") {
        match polling(&case) {
            Ok(polling) => {
                *counts.entry("compared").or_default() += 1;
                compare(&case, polling).await;
            }
            Err(unfit) => *counts.entry(unfit).or_default() += 1,
        }
    }
    let counts: Vec<_> = counts.into_iter().collect();
    let expected = [
        ("a race in Java's own threads", 6),
        ("compared", 48),
        ("stub settings refuse polling without a limit", 2),
        ("the server's time is no whole number of milliseconds", 17),
    ];
    assert_eq!(counts, expected);
}
