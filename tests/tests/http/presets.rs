//! Every row of the storage table, every strategy and every preset, over a scripted server in virtual time.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpError, HttpReport, HttpRetryLayer, IdempotencyStrategy, IdempotencyTable, OperationClass, Preset,
    StatusSet, presets,
};
use gax_retry::jitter::SeededJitter;
use gax_retry::{AttemptPlan, Response};
use http_body_util::Full;
use serde_json::Value;
use std::time::Duration;
use tonic_gax::{CallOptions, Code, OperationOptions, OperationReport, StopReason};
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, ms};
use tower_service::Service as _;

/// The operations of the documentation's table, as the public conformance cases send them.
const REQUESTS: &str = include_str!("../../../crates/retry/src/http/tests/data/storage_requests.json");

/// An operation of the table.
struct Operation {
    name: String,
    class: String,
    spec: Value,
}

fn operations() -> Vec<Operation> {
    let Value::Object(requests) = serde_json::from_str(REQUESTS).unwrap() else { unreachable!() };
    let operation = |(name, spec): (String, Value)| {
        let class = spec["class"].as_str().unwrap().to_owned();
        Operation { name, class, spec }
    };
    requests.into_iter().map(operation).collect()
}

impl Operation {
    fn request(&self, with_precondition: bool) -> http::Request<Full<Bytes>> {
        let path = self.spec["path"].as_str().unwrap().replace(['{', '}'], "");
        let mut query = Vec::new();
        let mut body = self.spec["body"].clone();
        for part in ["query", "precondition_query"] {
            if part == "query" || with_precondition {
                for (name, value) in self.spec[part].as_object().unwrap() {
                    query.push(format!("{name}={}", value.as_str().unwrap_or("x").replace(['{', '}'], "")));
                }
            }
        }
        if with_precondition {
            for (name, value) in self.spec["precondition_body"].as_object().unwrap() {
                body[name] = value.clone();
            }
        }
        let body = match body {
            Value::Null => String::new(),
            Value::String(text) => text,
            object => object.to_string(),
        };
        let uri = format!("http://server{path}?{}", query.join("&"));
        http::Request::builder()
            .method(self.spec["verb"].as_str().unwrap())
            .uri(uri)
            .body(Full::new(Bytes::from(body)))
            .unwrap()
    }
}

async fn sent(
    layer: &HttpRetryLayer,
    script: HttpScript,
    request: http::Request<Full<Bytes>>,
) -> (Result<u16, HttpError>, OperationReport, FaultServer) {
    let (server, connector) = FaultServer::in_memory(script);
    match layer.layer(FaultServer::full_client(connector)).call(request).await {
        Ok(mut response) => {
            let report = response.extensions_mut().remove().unwrap();
            (Ok(response.status().as_u16()), report, server)
        }
        Err(error) => {
            let report = error.report().clone();
            (Err(error), report, server)
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_row_is_retried_as_its_class_and_the_strategy_say() {
    let (mut requests, mut retried) = (0, 0);
    for operation in operations() {
        for with_precondition in [false, true] {
            for strategy in IdempotencyStrategy::ALL {
                for fault in [HttpAct::status(503), HttpAct::status(429), HttpAct::Reset, HttpAct::Truncate] {
                    let layer = HttpRetryLayer::preset(&presets::storage().with_host("server"))
                        .options(OperationOptions::new().reports(true))
                        .strategy(*strategy)
                        .options(OperationOptions::new().jitter_seed(1));
                    let request = operation.request(with_precondition);
                    let (result, report, server) =
                        sent(&layer, HttpScript::new([fault.clone()]), request).await;
                    let safe = match operation.class.as_str() {
                        "always" => true,
                        "conditional" => with_precondition,
                        _ => false,
                    };
                    let again = match strategy {
                        IdempotencyStrategy::Always => true,
                        IdempotencyStrategy::Never => false,
                        _ => safe,
                    };
                    let case =
                        format!("{} {with_precondition} {strategy} {fault:?}: {report}", operation.name);
                    assert_eq!(server.arrivals().len(), 1 + usize::from(again), "{case}");
                    assert_eq!(result.is_ok_and(|status| status == 200), again, "{case}");
                    assert_eq!(report.detail::<HttpReport>().unwrap().is_safe(), safe, "{case}");
                    assert_eq!(report.detail::<HttpReport>().unwrap().may_be_sent_again(), again, "{case}");
                    let reason = (!again).then_some(StopReason::NonRetryable);
                    assert_eq!(report.stop_reason(), reason, "{case}");
                    requests += 1;
                    retried += u32::from(again);
                }
            }
        }
    }
    // 47 operations: 22 always, 11 with a precondition, 14 never.
    assert_eq!(requests, 47 * 2 * 3 * 4);
    assert_eq!(retried, 4 * (47 * 2 + 22 * 2 + 11));
}

#[tokio::test(start_paused = true)]
async fn final_statuses_are_final_for_every_row() {
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("server"))
        .options(OperationOptions::new().reports(true))
        .strategy(IdempotencyStrategy::Always);
    for operation in operations() {
        for status in [400, 401, 403, 404, 409, 412, 501] {
            let script = HttpScript::new([HttpAct::status(status)]);
            let (result, report, server) = sent(&layer, script, operation.request(true)).await;
            assert_eq!((result.unwrap(), server.arrivals().len()), (status, 1), "{}", operation.name);
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
        }
    }
}

/// Uploads and downloads included.
#[tokio::test(start_paused = true)]
async fn other_statuses_are_for_payload_too() {
    let preset = presets::storage().with_host("server").with_statuses(StatusSet::from([418]));
    let layer = HttpRetryLayer::preset(&preset).options(OperationOptions::new().reports(true));
    for name in ["storage.objects.insert", "storage.objects.get"] {
        let operation = operations().into_iter().find(|operation| operation.name == name).unwrap();
        for (status, expected) in [(418, 200), (503, 503)] {
            let script = HttpScript::new([HttpAct::status(status)]);
            let (result, _, _) = sent(&layer, script, operation.request(true)).await;
            assert_eq!(result.unwrap(), expected, "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_can_be_overridden() {
    let table = IdempotencyTable::storage()
        .with_host("server")
        .with_class("storage.buckets.get", OperationClass::Never)
        .unwrap();
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("server"))
        .options(OperationOptions::new().reports(true))
        .idempotency(table);
    let request = http::Request::get("http://server/storage/v1/b/x").body(Full::default()).unwrap();
    let (result, report, _) = sent(&layer, HttpScript::new([HttpAct::status(503)]), request).await;
    assert_eq!(result.unwrap(), 503);
    assert_eq!(report.detail::<HttpReport>().map(HttpReport::idempotency).unwrap().to_string(), "never");
}

/// A request that every table calls safe.
fn safe_request() -> http::Request<Full<Bytes>> {
    let uri = "http://server/storage/v1/b/b1?ifMetagenerationMatch=2&generation=1";
    http::Request::put(uri).body(Full::new(Bytes::from_static(br#"{"etag":"x"}"#))).unwrap()
}

/// More than any preset but one without limits.
const BOUND: Duration = Duration::from_secs(1200);

/// The plan for a server that replies 503 at once and for ever.
fn planned(preset: &Preset, seed: u64) -> AttemptPlan {
    let outcomes = vec![Response::after(Duration::ZERO, Code::Unavailable); 400];
    AttemptPlan::within(Some(BOUND), &preset.policy(), &outcomes, &mut SeededJitter::new(seed))
}

fn near(one: Duration, other: Duration, tolerance: Duration) -> bool {
    one.abs_diff(other) <= tolerance
}

/// Timers have a grain of a millisecond, so that waits of parts of one start late, each up to one more.
#[tokio::test(start_paused = true)]
async fn every_preset_waits_over_http_as_planned() {
    for preset in presets::all().map(|preset| preset.with_host("server")) {
        for seed in [1, 2, 3] {
            let plan = planned(&preset, seed);
            assert!(plan.endless().is_empty(), "{}", preset.name());
            let mut request = safe_request();
            // It would take the place of the preset's own limit by time.
            if preset.backoff_strategy().limits().time().is_none() {
                request.extensions_mut().insert(CallOptions::new().timeout(BOUND));
            }
            let layer = HttpRetryLayer::preset(&preset)
                .options(OperationOptions::new().reports(true).jitter_seed(seed));
            let (result, report, server) =
                sent(&layer, HttpScript::always(HttpAct::status(503)), request).await;
            let case = format!("{} {seed}:\n{report}", preset.name());
            assert_eq!(result.unwrap(), 503, "{case}");
            let reason = if preset.statuses().contains(503) {
                plan.stop_reason()
            } else {
                Some(StopReason::NonRetryable)
            };
            assert_eq!(report.stop_reason(), reason, "{case}");
            assert_eq!(report.attempt_count() as usize, plan.attempts().len(), "{case}");
            for ours in report.attempts() {
                let index = ours.number() as usize - 1;
                let theirs = &plan.attempts()[index];
                let grain = ms(u64::try_from(index).unwrap());
                assert!(near(ours.delay(), theirs.delay(), grain), "{case}");
                assert!(near(ours.start(), theirs.start(), grain), "{case}");
                let arrival = server.arrivals()[index].at;
                assert!(arrival >= ours.start() && near(arrival, ours.start(), ms(1)), "{case}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn waits_of_whole_milliseconds_are_kept_to_the_millisecond() {
    for name in
        ["storage", "docs", "docs-32", "docs-legacy", "memorystore-doc", "node", "node-upload", "csharp"]
    {
        let preset = presets::named(name).unwrap().with_host("server");
        let plan = planned(&preset, 11);
        let layer =
            HttpRetryLayer::preset(&preset).options(OperationOptions::new().reports(true).jitter_seed(11));
        let (_, report, server) =
            sent(&layer, HttpScript::always(HttpAct::status(503)), safe_request()).await;
        assert_eq!(report.attempts().len(), plan.attempts().len(), "{name}");
        for (index, (ours, theirs)) in report.attempts().iter().zip(plan.attempts()).enumerate() {
            assert_eq!((ours.delay(), ours.start()), (theirs.delay(), theirs.start()), "{name}");
            assert_eq!(server.arrivals()[index].at, theirs.start(), "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_storage_preset_without_its_random_part_waits_powers_of_two_for_ten_minutes() {
    let plain = presets::storage().with_host("server");
    let strategy = plain.backoff_strategy();
    let plain = plain.with_backoff_strategy(
        strategy.with_backoff(strategy.backoff().with_jitter(gax_driver::strategy::Jitter::None)),
    );
    let (_, report, server) = sent(
        &HttpRetryLayer::preset(&plain).options(OperationOptions::new().reports(true)),
        HttpScript::always(HttpAct::status(503)),
        safe_request(),
    )
    .await;
    let seconds: Vec<u128> = server.times().into_iter().map(|time| time / 1000).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383, 447, 511, 575]);
    assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!(report.not_attempted().unwrap().delay(), Duration::from_secs(64));
}

#[tokio::test(start_paused = true)]
async fn presets_retry_their_own_statuses_over_http() {
    for preset in presets::all().map(|preset| preset.with_host("server")) {
        for status in [408, 429, 500, 501, 502, 503, 504, 404] {
            let layer =
                HttpRetryLayer::preset(&preset).options(OperationOptions::new().reports(true).jitter_seed(1));
            let (result, _, _) =
                sent(&layer, HttpScript::new([HttpAct::status(status)]), safe_request()).await;
            let expected = if preset.statuses().contains(status) { 200 } else { status };
            assert_eq!(result.unwrap(), expected, "{} {status}", preset.name());
        }
    }
}

/// A preset's class of a request that is refused once, the rule behind it, and how often the server sees the request.
async fn said(preset: &Preset, method: &str, uri: &str, headers: &[(&str, &str)]) -> (String, String, usize) {
    let mut request = http::Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let layer = HttpRetryLayer::preset(preset).options(OperationOptions::new().reports(true).jitter_seed(1));
    let request = request.body(Full::default()).unwrap();
    let (_, report, server) = sent(&layer, HttpScript::new([HttpAct::status(503)]), request).await;
    let classification = report.detail::<HttpReport>().map(HttpReport::idempotency).unwrap();
    let rule = classification.rule().unwrap_or_default().to_owned();
    (classification.to_string(), rule, server.times().len())
}

#[tokio::test(start_paused = true)]
async fn the_rules_of_storage_are_for_its_hosts_and_those_that_were_given() {
    let storage = presets::storage();
    let own = storage.clone().with_host("emulator:9000");
    for (preset, method, uri, class, rule, requests) in [
        (
            &storage,
            "DELETE",
            "http://storage.googleapis.com/storage/v1/b/bkt",
            "always",
            "storage.buckets.delete",
            2,
        ),
        (
            &storage,
            "POST",
            "http://www.googleapis.com/storage/v1/b?project=p",
            "always",
            "storage.buckets.insert",
            2,
        ),
        (
            &storage,
            "POST",
            "http://storage-x.p.googleapis.com/storage/v1/b",
            "always",
            "storage.buckets.insert",
            2,
        ),
        (
            &storage,
            "POST",
            "http://storage.europe-west3.rep.googleapis.com/storage/v1/b",
            "always",
            "storage.buckets.insert",
            2,
        ),
        // An object of the name b/xxx, over the XML API.
        (&storage, "DELETE", "http://bkt.storage.googleapis.com/b/xxx", "always", "DELETE", 2),
        (&storage, "POST", "http://bkt.storage.googleapis.com/b", "never", "POST", 1),
        // Any other API.
        (&storage, "POST", "http://billing.example.com/b", "never", "POST", 1),
        (&storage, "POST", "http://emulator:9000/b", "never", "POST", 1),
        (&own, "POST", "http://emulator:9000/b", "always", "storage.buckets.insert", 2),
        (&own, "POST", "http://emulator:9001/b", "never", "POST", 1),
        (&own, "POST", "http://storage.googleapis.com/storage/v1/b", "always", "storage.buckets.insert", 2),
    ] {
        let expected = (class.to_owned(), rule.to_owned(), requests);
        assert_eq!(said(preset, method, uri, &[]).await, expected, "{method} {uri}");
    }
}

#[tokio::test(start_paused = true)]
async fn conditions_of_the_xml_api_count() {
    let storage = presets::storage();
    let generation = [("x-goog-if-generation-match", "0")];
    for (method, path, headers, class, requests) in [
        ("PUT", "/bkt/o", &generation[..], "conditional: x-goog-if-generation-match header", 2),
        ("PUT", "/bkt/o", &[], "unknown: no rule for this request", 1),
        ("DELETE", "/storage/v1/b/bkt/o/o", &generation, "conditional: x-goog-if-generation-match header", 2),
        (
            "PATCH",
            "/storage/v1/b/bkt",
            &[("x-goog-if-metageneration-match", "3")],
            "conditional: x-goog-if-metageneration-match header",
            2,
        ),
    ] {
        let uri = format!("http://storage.googleapis.com{path}");
        let (said, _, seen) = said(&storage, method, &uri, headers).await;
        assert_eq!((&*said, seen), (class, requests), "{method} {path}");
    }
}
