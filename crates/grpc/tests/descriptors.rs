//! Descriptors, and what follows from them: kinds of methods, hedging of idempotent ones, latencies of each, unknown names.

use crate::support::{Bridge, call, unary};
use gax_driver::RetryBudgets;
use gax_grpc::{RetriedCall, RetryInterceptor};
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use grpc::client::CallOptions as GrpcOptions;
use grpc::client::interceptor::InvokeExt as _;
use grpc::core::RequestHeaders;
use grpc::{StatusCodeError, StatusError};
use std::iter::repeat_n;
use tonic_gax::{CallOptions, Code, Hedging, OperationOptions, OperationReport, RetrySettings, StopReason};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::{BodyPart, Reply, Script, VirtualServer, delays, ms};

const ASK: &str = "/test.talk.v1.Talk/Ask";
const GUESS: &str = "/test.talk.v1.Talk/Guess";
const LISTEN: &str = "/test.talk.v1.Talk/Listen";

fn table(settings: RetrySettings) -> RetryTable {
    RetryTable::builder().service("test.talk.v1.Talk", settings, [Code::Unavailable]).build().unwrap()
}

fn retries(table: RetryTable) -> RetryInterceptor {
    RetryInterceptor::new(table).options(OperationOptions::new().without_jitter())
}

fn described(table: RetryTable) -> RetryInterceptor {
    retries(table).facts(&tonic_gax_tests::generated::facts())
}

/// How many messages a call got, the code of its failure, and its report.
async fn outcome(
    server: &VirtualServer,
    retries: RetryInterceptor,
    method: &str,
) -> (usize, Option<StatusCodeError>, OperationReport) {
    let own = RetriedCall::new(CallOptions::new().report(true));
    let channel = Bridge(server.channel()).with_interceptor(retries).with_interceptor(own.clone());
    let headers = RequestHeaders::new().with_method_name(method);
    let (lines, trailers) = call::<Line>(&channel, headers, GrpcOptions::new(), &Line::default()).await;
    (lines.len(), trailers.status().as_ref().err().map(StatusError::code), own.report().unwrap())
}

/// The trailers of a unary response come later than its message: only descriptors tell that they are worth waiting for.
#[tokio::test(start_paused = true)]
async fn the_response_of_a_unary_method_is_held_until_its_trailers_have_come() {
    let settings = delays(100, 2.0).total_timeout(ms(5000)).build().unwrap();
    let down = BodyPart::status(&tonic::Status::unavailable("down"));
    let reply = || Reply::messages_then(&[Line::default()], [BodyPart::Wait(ms(20)), down.clone()]);
    let server = VirtualServer::start(Script::at_once([reply()]));
    let (lines, code, report) = outcome(&server, described(table(settings.clone())), ASK).await;
    assert_eq!((lines, code, report.attempt_count()), (1, None, 2));

    let server = VirtualServer::start(Script::at_once([reply()]));
    let (lines, code, report) = outcome(&server, retries(table(settings)), ASK).await;
    assert_eq!((lines, code), (1, Some(StatusCodeError::Unavailable)));
    assert_eq!(report.stop_reason(), Some(StopReason::Committed));
}

/// RPC timeouts are for unary methods: a stream of responses has the total timeout alone, and commits with its first message.
#[tokio::test(start_paused = true)]
async fn a_stream_of_responses_has_no_rpc_timeout() {
    let settings = || delays(100, 2.0).initial_rpc_timeout(ms(50)).total_timeout(ms(5000)).build().unwrap();
    let slow = || Reply::play([BodyPart::Wait(ms(200)), BodyPart::status(&tonic::Status::not_found("no"))]);
    for (retries, code, timeout) in [
        (described(table(settings())), StatusCodeError::NotFound, 5000),
        (retries(table(settings())), StatusCodeError::DeadlineExceeded, 50),
    ] {
        let server = VirtualServer::start(Script::at_once([slow()]));
        assert_eq!(outcome(&server, retries, LISTEN).await.1, Some(code));
        assert_eq!(server.seen(), [(0, Some(timeout))]);
    }
    // Both come at once.
    let broken = tonic::Status::unavailable("down");
    for (retries, attempts) in [(described(table(settings())), 1), (retries(table(settings())), 2)] {
        let server =
            VirtualServer::start(Script::at_once([Reply::messages_then_status(&[Line::default()], &broken)]));
        let (_, _, report) = outcome(&server, retries, LISTEN).await;
        assert_eq!(report.attempt_count(), attempts, "{report}");
    }
}

/// `Guess` is idempotent, `Ask` is not.
#[tokio::test(start_paused = true)]
async fn methods_that_descriptors_call_idempotent_are_hedged() {
    let settings = RetrySettings::logical_timeout(ms(1000));
    let hedging = Hedging::new(2).delay(ms(100));
    for (retries, method, sent) in [
        (described(table(settings.clone())), GUESS, 2),
        (described(table(settings.clone())), ASK, 1),
        (retries(table(settings)), GUESS, 1),
    ] {
        let server = VirtualServer::start(Script::of([(ms(0), Reply::Hang)]));
        outcome(&server, retries.hedging(hedging), method).await;
        assert_eq!(server.seen().len(), sent, "{method}");
    }
}

/// A hedge of a method that changes nothing decides at once, whatever its code; any other one might have been preceded by the
/// attempt that it repeats.
#[tokio::test(start_paused = true)]
async fn a_method_that_changes_nothing_ends_with_what_its_hedge_says() {
    let settings = RetrySettings::logical_timeout(ms(1000));
    let hedging = Hedging::new(2).delay(ms(100)).allow_non_idempotent();
    for (method, code, end) in [(GUESS, Some(StatusCodeError::NotFound), 101), (ASK, None, 500)] {
        let gone = Reply::code(tonic::Code::NotFound);
        let server = VirtualServer::start(Script::of([(ms(500), Reply::Serve), (ms(0), gone)]));
        let retries = described(table(settings.clone())).hedging(hedging);
        let (_, found, report) = outcome(&server, retries, method).await;
        assert_eq!((found, report.elapsed()), (code, ms(end)), "{report}");
    }
}

/// One method is slow, and the other is not: each is hedged by its own latencies, over tables that replace each other too.
#[tokio::test(start_paused = true)]
async fn a_percentile_is_of_the_method_s_own_calls() {
    let table = || {
        let settings = RetrySettings::logical_timeout(ms(10_000));
        let table = RetryTable::builder().service("test.talk.v1.Talk", settings, [Code::Unavailable]);
        table.idempotent(true).hedged(Hedging::new(2).percentile(0.5)).build().unwrap()
    };
    let handle = SettingsHandle::new(table());
    let live = RetryInterceptor::live(&handle);
    for (retries, after) in [
        (retries(table()).facts(&tonic_gax_tests::generated::facts()), 501),
        (live.clone().facts(&tonic_gax_tests::generated::facts()), 501),
        // Without descriptors the methods of an entry have their latencies in common.
        (live, 2),
    ] {
        let replies = |after: u64| repeat_n((ms(after), Reply::Serve), 20);
        let steps = replies(500).chain(replies(1)).chain(replies(1)).chain([(ms(0), Reply::Hang)]);
        let server = VirtualServer::start(Script::of(steps));
        let channel = Bridge(server.channel()).with_interceptor(retries);
        for method in [GUESS, ASK, ASK] {
            for _ in 0..20 {
                unary::<Line>(&channel, method, &Line::default()).await.unwrap();
            }
        }
        handle.replace(table()).unwrap();
        let before = server.seen().len();
        unary::<Line>(&channel, GUESS, &Line::default()).await.unwrap();
        let seen = server.seen();
        let [(first, _), (second, _)] = seen[before..] else { unreachable!("{seen:?}") };
        assert_eq!(second - first, after);
    }
}

/// Interceptors of one server drain one bucket, whichever of them brings it.
#[tokio::test(start_paused = true)]
async fn a_server_has_one_budget() {
    let budgets = RetryBudgets::new();
    let config = |throttling: &str| {
        let policy = r#"{"name": [{}], "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s",
            "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}"#;
        RetryTable::parse(&format!(r#"{{"methodConfig": [{policy}]{throttling}}}"#)).unwrap()
    };
    let throttled = config(r#", "retryThrottling": {"maxTokens": 4, "tokenRatio": 0.1}"#);
    let first = retries(throttled).server_retry_budget(&budgets, "talk.example.com");
    let same = retries(config("")).server_retry_budget(&budgets, "talk.example.com");
    let other = retries(config("")).server_retry_budget(&budgets, "other.example.com");
    for (retries, attempts) in [(first, 2), (same, 1), (other, 5)] {
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        assert_eq!(outcome(&server, retries, ASK).await.2.attempt_count(), attempts);
    }
}
