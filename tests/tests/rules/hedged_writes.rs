//! Hedged writes: which requests are hedged at all, and what is said of one that was carried out.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{
    HttpError, HttpRetryLayer, IdempotencyRule, IdempotencyStrategy, IdempotencyTable, OperationClass,
    OperationOptions,
};
use gax_retry::{Code, Compatibility, Hedging, RetrySettings, StopReason};
use gax_table::RetryTable;
use gax_testing::{Reply, Script};
use http_body_util::{BodyExt as _, Full};
use tokio::time::sleep;
use tonic::Status;
use tonic_gax::{Note, OperationReport, RetryLayer};
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Recorder, Stack, TalkCaller, VirtualServer, ms, reported,
};

const BUSY: Code = Code::Unavailable;
const LOST: Code = Code::Cancelled;
const NOTED: [Note; 1] = [Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED];

/// Three attempts, 100 ms apart, UNAVAILABLE is not fatal; for requests that change something too.
fn hedging() -> Hedging {
    Hedging::new(3).delay(ms(100)).non_fatal_codes([BUSY]).allow_non_idempotent()
}

fn settings() -> RetrySettings {
    RetrySettings::builder().jittered(false).total_timeout(ms(1000)).build().unwrap()
}

fn layer() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [BUSY]).hedging(hedging()).options(OperationOptions::new().reports(true))
}

fn request(method: &str, target: &str) -> http::Request<Full<Bytes>> {
    let uri = format!("http://server{target}");
    http::Request::builder().method(method).uri(uri).header("x-call", "1").body(Full::from("{}")).unwrap()
}

/// The status of the operation's end with its body, its report, and how many requests the server saw.
async fn sent(
    layer: &HttpRetryLayer,
    method: &str,
    acts: impl IntoIterator<Item = HttpAct>,
) -> (Result<(u16, Bytes), HttpError>, OperationReport, usize) {
    let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
    let client = layer.clone().layer(FaultServer::full_client(connector));
    let (result, report) = match client.send(request(method, "/thing")).await {
        Ok(response) => {
            let report = response.extensions().get::<OperationReport>().unwrap().clone();
            let status = response.status().as_u16();
            (Ok((status, response.into_body().collect().await.unwrap().to_bytes())), report)
        }
        Err(error) => {
            let report = error.report().clone();
            (Err(error), report)
        }
    };
    (result, report, server.times().len())
}

/// Number, end and code of each attempt, in milliseconds.
fn rows(report: &OperationReport) -> Vec<(u32, u128, Code)> {
    report.attempts().iter().map(|row| (row.number(), row.end().as_millis(), row.code())).collect()
}

/// How many requests reach a server that hangs.
async fn requests(layer: &HttpRetryLayer, request: http::Request<Full<Bytes>>) -> usize {
    let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Stall));
    layer.clone().layer(FaultServer::full_client(connector)).send(request).await.unwrap_err();
    server.times().len()
}

/// To be safe to repeat after a failure is not to be safe to run twice at once.
#[tokio::test(start_paused = true)]
async fn a_write_is_hedged_only_where_that_is_said() {
    // gax-java gives an attempt no timeout where only a total is set.
    let timed = settings().to_builder().initial_rpc_timeout(ms(1000)).build().unwrap();
    let plain =
        HttpRetryLayer::new(&timed, [BUSY]).hedging(Hedging::new(3).delay(ms(100)).non_fatal_codes([BUSY]));
    let rule = |method: &'static str, class| IdempotencyRule::new("own", method, "/thing", class).unwrap();
    let of =
        |rule: IdempotencyRule| plain.clone().idempotency(IdempotencyTable::http_methods().with_rule(rule));
    let said = |method| of(rule(method, OperationClass::Always).hedgeable(true));
    for (layer, method, expected) in [
        (plain.clone(), "GET", 3),
        (plain.clone(), "PUT", 1),
        (plain.clone(), "DELETE", 1),
        (plain.clone(), "POST", 1),
        // The strategy accepts a repetition after a failure.
        (plain.clone().strategy(IdempotencyStrategy::Always), "POST", 1),
        (plain.clone().strategy(IdempotencyStrategy::Always), "PUT", 1),
        (plain.clone().options(OperationOptions::new().compatibility(Compatibility::GaxJava)), "POST", 1),
        (layer(), "PUT", 3),
        (layer(), "POST", 3),
        (layer().strategy(IdempotencyStrategy::Never), "PUT", 1),
        (said("PUT"), "PUT", 3),
        (said("POST"), "POST", 3),
        // A request that is not safe to repeat at all is not safe to run twice at once.
        (of(rule("POST", OperationClass::Never).hedgeable(true)), "POST", 1),
        (of(rule("GET", OperationClass::Always).hedgeable(false)), "GET", 1),
        (of(rule("PUT", OperationClass::Always).hedgeable(false)).hedging(hedging()), "PUT", 1),
    ] {
        assert_eq!(requests(&layer, request(method, "/thing")).await, expected, "{method} {layer:?}");
    }
}

/// Two chunks at once would get in each other's way.
#[tokio::test(start_paused = true)]
async fn a_chunk_of_a_session_is_never_hedged() {
    let mut chunk = request("PUT", "/upload/7");
    chunk.headers_mut().insert("content-range", "bytes 0-1/2".parse().unwrap());
    assert_eq!(requests(&layer(), chunk).await, 1);
    let storage = layer().idempotency(IdempotencyTable::storage().with_host("server"));
    let session = "/upload/storage/v1/b/bkt/o?uploadType=resumable&upload_id=7";
    assert_eq!(requests(&storage, request("PUT", session)).await, 1);
    assert_eq!(requests(&storage, request("DELETE", session)).await, 1);
}

/// The server is healthy and slow: it carries the first attempt out and finds the hedge's condition not to hold.
#[tokio::test(start_paused = true)]
async fn a_write_that_was_carried_out_is_not_refused_by_its_own_hedge() {
    for (refusal, code) in [(404, Code::NotFound), (409, Code::Aborted), (412, Code::FailedPrecondition)] {
        for method in ["DELETE", "POST", "PUT"] {
            let acts = [HttpAct::Once(ms(350), refusal), HttpAct::Once(ms(0), refusal)];
            let (result, report, requests) = sent(&layer(), method, acts).await;
            assert_eq!(result.unwrap(), (200, "done".into()), "{method} {refusal}");
            assert_eq!(rows(&report), [(1, 350, Code::Ok), (2, 101, code)], "{method} {refusal}");
            assert_eq!((report.notes(), requests), (&[][..], 2), "{method} {refusal}: no further hedge");
        }
    }
}

/// Whatever else becomes of the attempts before it.
#[tokio::test(start_paused = true)]
async fn what_a_hedge_was_refused_with_is_the_result_if_no_earlier_attempt_has_a_reply() {
    let refused = || HttpAct::status(412);
    for acts in [vec![HttpAct::Stall, refused()], vec![HttpAct::StallInBody(200), refused()]] {
        let (result, report, requests) = sent(&layer(), "PUT", acts).await;
        assert_eq!(result.unwrap(), (412, r#"{"status":412}"#.into()));
        let expected = [(1, 1000, Code::DeadlineExceeded), (2, 101, Code::FailedPrecondition)];
        assert_eq!((rows(&report), requests), (expected.to_vec(), 2));
        assert_eq!((report.stop_reason(), report.notes()), (Some(StopReason::NonRetryable), &NOTED[..]));
    }
    // Of three in flight any reply wins.
    let acts = [HttpAct::Stall, HttpAct::Slow(vec![(ms(150), "a")]), HttpAct::status(409)];
    let (result, report, _) = sent(&layer(), "DELETE", acts).await;
    assert_eq!(result.unwrap().0, 200);
    assert_eq!(rows(&report), [(1, 251, LOST), (2, 251, Code::Ok), (3, 201, Code::Aborted)]);
}

/// Meanwhile its connection is free for others.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_is_held_does_not_hold_its_connection() {
    let acts = [HttpAct::Stall, HttpAct::status(412).with_body([b'x'; 12_000]), HttpAct::status(200)];
    let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
    let client = layer().layer(FaultServer::full_client(connector));
    let other = async {
        sleep(ms(300)).await;
        client.send(request("GET", "/other")).await
    };
    let (held, other) = tokio::join!(client.send(request("PUT", "/thing")), other);
    assert_eq!((held.unwrap().status().as_u16(), other.unwrap().status().as_u16()), (412, 200));
    assert_eq!(server.accepted(), 2);
}

/// It is the result, which its caller has before its body is there.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_first_attempt_is_not_held() {
    let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::StallInBody(412)));
    let client = layer().layer(FaultServer::full_client(connector));
    let response = client.send(request("PUT", "/thing")).await.unwrap();
    assert_eq!((response.status().as_u16(), server.elapsed(), server.times()), (412, ms(0), vec![0]));
}

/// One that nobody waits for says that it may have been carried out before.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_decides_beside_other_attempts_says_so() {
    let late = HttpAct::status(404);
    let (result, report, _) = sent(&layer(), "DELETE", [HttpAct::status(503), late.clone()]).await;
    assert_eq!((result.unwrap().0, report.notes()), (404, &NOTED[..]), "after a hedge's failure");
    let retried = HttpRetryLayer::new(&settings(), [BUSY]).options(OperationOptions::new().reports(true));
    let (result, report, _) = sent(&retried, "DELETE", [HttpAct::status(503), late.clone()]).await;
    assert_eq!((result.unwrap().0, report.notes()), (404, &NOTED[..]), "after a retry");
    let (result, report, _) = sent(&retried, "GET", [HttpAct::status(503), late]).await;
    assert_eq!((result.unwrap().0, report.notes()), (404, &[][..]), "of a read");
    let grpc = layer().options(OperationOptions::new().compatibility(Compatibility::Grpc));
    let (result, report, _) = sent(&grpc, "PUT", [HttpAct::Stall, HttpAct::status(412)]).await;
    assert_eq!(
        (result.unwrap().0, rows(&report)),
        (412, vec![(1, 101, LOST), (2, 101, Code::FailedPrecondition)])
    );
    assert_eq!(report.notes(), NOTED, "by gRPC's rules");
}

/// The code of the attempt that decided, not of one that was cancelled by it.
#[tokio::test(start_paused = true)]
async fn the_error_of_a_hedged_operation_has_the_code_of_the_attempt_that_decided() {
    let timed = settings().to_builder().initial_rpc_timeout(ms(150)).build().unwrap();
    let layer =
        HttpRetryLayer::new(&timed, [BUSY]).hedging(hedging()).options(OperationOptions::new().reports(true));
    let (result, report, _) = sent(&layer, "GET", [HttpAct::Stall, HttpAct::Stall]).await;
    assert_eq!(rows(&report), [(1, 150, Code::DeadlineExceeded), (2, 150, LOST)]);
    assert_eq!(result.unwrap_err().code(), Code::DeadlineExceeded);
}

/// Calls Ask, or Guess, which reads only: the result, the report, and the last notification of observers.
async fn asked(
    stack: Stack,
    compatibility: Compatibility,
    is_guess: bool,
    steps: Vec<(u64, Reply)>,
) -> (Result<(), Status>, OperationReport, String) {
    let recorder = Recorder::default();
    let server = VirtualServer::start(Script::of(steps.into_iter().map(|(after, reply)| (ms(after), reply))));
    let line = reported(Line::default());
    let mut caller = if stack == Stack::Generated {
        let mut stub = TalkStubSettings::builder();
        stub.ask().set_retry_settings(settings()).set_hedging(hedging());
        stub.guess().set_retry_settings(settings()).set_hedging(hedging());
        let settings = TalkSettings::create(stub.build().unwrap())
            .with_options(OperationOptions::new().compatibility(compatibility).observer(recorder.shared()));
        TalkCaller::Generated(TalkClient::with_settings(server.channel(), settings))
    } else {
        let table = RetryTable::builder().service("test.talk.v1.Talk", settings(), BUSY).hedged(hedging());
        let layer = RetryLayer::new(table.build().unwrap())
            .options(OperationOptions::new().compatibility(compatibility).observer(recorder.shared()));
        let is_described = stack == Stack::LayerWithDescriptors;
        let layer = if is_described { layer.facts(&tonic_gax_tests::generated::facts()) } else { layer };
        TalkCaller::over(&layer, server.channel())
    };
    let result = if is_guess { caller.guess(line).await } else { caller.ask(line).await };
    let report = tonic_gax_tests::report_of(&result);
    (result.map(drop), report, recorder.take().pop().unwrap())
}

const REFUSALS: [Code; 4] = [Code::NotFound, Code::AlreadyExists, Code::Aborted, Code::FailedPrecondition];

fn refused(code: Code) -> Reply {
    Reply::status(Status::new(i32::from(code).into(), "refused"))
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_carried_out_is_not_refused_by_its_own_hedge() {
    for stack in Stack::ALL {
        for code in REFUSALS {
            for compatibility in [Compatibility::Documented, Compatibility::GaxJava] {
                let steps = vec![(350, Reply::Serve), (50, refused(code))];
                let (result, report, _) = asked(stack, compatibility, false, steps).await;
                result.unwrap();
                assert_eq!(rows(&report), [(1, 350, Code::Ok), (2, 151, code)], "{stack:?} {compatibility}");
                assert_eq!(report.notes(), [], "{stack:?} {compatibility}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_hedge_was_refused_with_is_the_status_if_no_earlier_attempt_has_a_reply() {
    for stack in Stack::ALL {
        for (first, ended) in [
            ((0, Reply::Hang), (1, 1000, Code::DeadlineExceeded)),
            ((400, Reply::unavailable()), (1, 400, BUSY)),
            ((400, refused(Code::Internal)), (1, 400, Code::Internal)),
        ] {
            let steps = vec![first, (50, refused(Code::NotFound))];
            let (result, report, recorded) = asked(stack, Compatibility::Documented, false, steps).await;
            let status = result.unwrap_err();
            assert_eq!((status.code(), status.message()), (tonic::Code::NotFound, "refused"), "{stack:?}");
            assert_eq!(rows(&report), [ended, (2, 151, Code::NotFound)], "{stack:?}");
            assert_eq!((report.stop_reason(), report.notes()), (Some(StopReason::NonRetryable), &NOTED[..]));
            let expected = format!("operation_failed NOT_FOUND 2 attempts {} ms NON_RETRYABLE", ended.1);
            assert_eq!(recorded, expected, "{stack:?}");
        }
    }
}

/// A read has nothing to wait for, and by gRPC's rules a fatal status ends the call.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_read_and_by_grpcs_rules_ends_the_call_at_once() {
    let ended = [(1, 151, LOST), (2, 151, Code::NotFound)];
    let steps = || vec![(350, Reply::Serve), (50, refused(Code::NotFound))];
    for stack in Stack::ALL {
        let (result, report, _) = asked(stack, Compatibility::Grpc, false, steps()).await;
        assert_eq!((result.unwrap_err().code(), rows(&report)), (tonic::Code::NotFound, ended.to_vec()));
        assert!(report.notes().contains(&NOTED[0]), "{stack:?}");
        if stack != Stack::Layer {
            let (result, report, _) = asked(stack, Compatibility::Documented, true, steps()).await;
            assert_eq!((result.unwrap_err().code(), rows(&report)), (tonic::Code::NotFound, ended.to_vec()));
            assert_eq!(report.notes(), [], "{stack:?}");
        }
    }
}
