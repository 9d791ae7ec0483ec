//! Server delays: pushback, `RetryInfo`, and `Retry-After` of a proxy.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::HttpRetryLayer;
use gax_retry::{Code, Compatibility, RetrySettings, StopReason};
use http_body_util::Full;
use std::error::Error as _;
use tonic::Status;
use tonic::metadata::AsciiMetadataValue;
use tonic_gax::{OperationError, OperationOptions, OperationReport};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{
    BodyPart, FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, VirtualServer, delays, ms,
    report_of,
};
use tower_service::Service as _;

const DOWN: tonic::Code = tonic::Code::Unavailable;

/// 100 ms, 400 ms, 1600 ms .. between attempts, ten seconds in all.
fn settings(max_attempts: u32) -> RetrySettings {
    delays(100, 4.0).total_timeout(ms(10_000)).max_attempts(max_attempts).build().unwrap()
}

fn setup(compatibility: Compatibility) -> Setup {
    Setup::new(settings(5)).retrying([Code::Unavailable]).compatible(compatibility)
}

/// A status with these pushbacks, alone.
fn pushed(code: tonic::Code, values: &[&str]) -> Reply {
    let mut status = Status::new(code, "said");
    for value in values {
        let value = AsciiMetadataValue::try_from(value.as_bytes()).unwrap();
        status.metadata_mut().append("grpc-retry-pushback-ms", value);
    }
    Reply::status(status)
}

/// A `google.rpc.Status` with a `RetryInfo` of so many seconds, below 128.
fn details(seconds: u8) -> Bytes {
    let info = [0x0a, 2, 8, seconds];
    let url = b"type.googleapis.com/google.rpc.RetryInfo";
    let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
    let any = [&[0x0a, length(url)], &url[..], &[0x12, length(&info)], &info].concat();
    [&[0x1a, length(&any)], any.as_slice()].concat().into()
}

fn informed(seconds: u8) -> Status {
    Status::with_details(DOWN, "said", details(seconds))
}

/// The outcome of a call: when its attempts reached the server, how it ended and when.
#[derive(Debug, PartialEq)]
struct Seen {
    attempts: Vec<u64>,
    code: tonic::Code,
    reason: Option<StopReason>,
    ended: u64,
}

async fn call(
    stack: Stack,
    setup: &Setup,
    replies: impl IntoIterator<Item = Reply>,
) -> (Seen, Option<Status>) {
    let server = VirtualServer::start(Script::at_once(replies));
    let result = stack.list(server.channel(), setup).await;
    let ended = u64::try_from(server.log().elapsed().as_millis()).unwrap();
    let attempts: Vec<u64> = server.seen().iter().map(|(at, _)| *at).collect();
    let reason = match &result {
        Ok(_) if attempts.len() == 1 => None,
        result => report_of(result).stop_reason(),
    };
    let status = result.err();
    let code = status.as_ref().map_or(tonic::Code::Ok, Status::code);
    (Seen { attempts, code, reason, ended }, status)
}

fn good(attempts: &[u64]) -> Seen {
    let ended = *attempts.last().unwrap();
    Seen { attempts: attempts.to_vec(), code: tonic::Code::Ok, reason: None, ended }
}

fn failed(attempts: &[u64], code: tonic::Code, reason: StopReason) -> Seen {
    let ended = *attempts.last().unwrap();
    Seen { attempts: attempts.to_vec(), code, reason: Some(reason), ended }
}

const PUSHES: [Compatibility; 2] = [Compatibility::Documented, Compatibility::Grpc];

/// OTLP's rule of `RESOURCE_EXHAUSTED`: without a delay of the server's, trying again does not help.
#[tokio::test(start_paused = true)]
async fn a_code_that_counts_only_with_a_servers_delay_is_final_without_one() {
    let exhausted = tonic::Code::ResourceExhausted;
    let only = settings(5).to_builder().only_with_server_delay(exhausted).build().unwrap();
    let setup = Setup::new(only).retrying([Code::Unavailable, Code::ResourceExhausted]);
    let informed = || Reply::status(Status::with_details(exhausted, "said", details(3)));
    for stack in Stack::ALL {
        let (seen, status) = call(stack, &setup, [Reply::code(exhausted)]).await;
        assert_eq!(seen, failed(&[0], exhausted, StopReason::NonRetryable), "{stack:?}");
        assert_eq!(status.unwrap().code(), exhausted);
        // Three seconds, and the back-off.
        let (seen, _) = call(stack, &setup, [informed()]).await;
        assert_eq!(seen, good(&[0, 3100]), "{stack:?}");
        let (seen, _) = call(stack, &setup, [pushed(exhausted, &["700"])]).await;
        assert_eq!(seen, good(&[0, 700]), "{stack:?}");
        let (seen, _) = call(stack, &setup, [pushed(exhausted, &["-1"])]).await;
        assert_eq!(seen.attempts, [0], "{stack:?}");
        // The other codes count as ever, and so does a later reply without a delay.
        let (seen, _) = call(stack, &setup, [Reply::unavailable()]).await;
        assert_eq!(seen, good(&[0, 100]), "{stack:?}");
        let (seen, _) = call(stack, &setup, [informed(), Reply::code(exhausted)]).await;
        assert_eq!(seen, failed(&[0, 3100], exhausted, StopReason::NonRetryable), "{stack:?}");
        // gRPC's rules heed the pushback alone, and Java's nothing.
        let grpc = setup.clone().compatible(Compatibility::Grpc);
        let (seen, _) = call(stack, &grpc, [informed()]).await;
        assert_eq!(seen, failed(&[0], exhausted, StopReason::NonRetryable), "{stack:?}");
        let (seen, _) = call(stack, &grpc, [pushed(exhausted, &["700"])]).await;
        assert_eq!(seen, good(&[0, 700]), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pushback_is_waited_for_exactly_and_back_off_begins_anew() {
    let rows = [
        (vec!["300", "", ""], vec![0, 300, 400, 800]),
        (vec!["", "", "300", ""], vec![0, 100, 500, 800, 900]),
        (vec!["0", "0"], vec![0, 0, 0]),
    ];
    for (script, expected) in rows {
        for (compatibility, stack) in
            PUSHES.into_iter().flat_map(|rules| Stack::ALL.map(|stack| (rules, stack)))
        {
            let reply =
                |value: &&str| if value.is_empty() { Reply::unavailable() } else { pushed(DOWN, &[*value]) };
            let (seen, _) = call(stack, &setup(compatibility), script.iter().map(reply)).await;
            assert_eq!(seen, good(&expected), "{script:?} {compatibility} {stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pushback_that_is_no_delay_means_never() {
    for values in [&["-1"][..], &["abc"], &[""], &["1.5"], &["2147483648"], &["10", "10"]] {
        for (compatibility, stack) in
            PUSHES.into_iter().flat_map(|rules| Stack::ALL.map(|stack| (rules, stack)))
        {
            let (seen, status) = call(stack, &setup(compatibility), [pushed(DOWN, values)]).await;
            assert_eq!(
                seen,
                failed(&[0], DOWN, StopReason::Pushback),
                "{values:?} {compatibility} {stack:?}"
            );
            assert_eq!(status.unwrap().message(), "said");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pushback_makes_no_other_code_retryable_and_lifts_no_limit() {
    for stack in Stack::ALL {
        for compatibility in PUSHES {
            let setup = setup(compatibility);
            let (seen, _) = call(stack, &setup, [pushed(tonic::Code::Internal, &["10"])]).await;
            assert_eq!(seen, failed(&[0], tonic::Code::Internal, StopReason::NonRetryable), "{stack:?}");
            let (seen, _) = call(stack, &setup, (0..9).map(|_| pushed(DOWN, &["10"]))).await;
            assert_eq!(seen, failed(&[0, 10, 20, 30, 40], DOWN, StopReason::MaxAttempts), "{stack:?}");
        }
        let late = [pushed(DOWN, &["10000"])];
        let (seen, _) = call(stack, &setup(Compatibility::Documented), late.clone()).await;
        assert_eq!(seen, failed(&[0], DOWN, StopReason::ServerDelayExceedsTotalTimeout), "{stack:?}");
        let (seen, status) = call(stack, &setup(Compatibility::Grpc), late).await;
        let code = tonic::Code::DeadlineExceeded;
        assert_eq!(seen, failed(&[0], code, StopReason::ServerDelayExceedsTotalTimeout), "{stack:?}");
        let status = status.unwrap();
        let cause = OperationError::of(&status).unwrap().source().unwrap();
        assert_eq!(cause.downcast_ref::<Status>().unwrap().code(), DOWN, "{stack:?}");
    }
}

/// Trailers after headers are read like those that come alone; by gRPC's rules such a response has committed.
#[tokio::test(start_paused = true)]
async fn trailers_after_headers_are_read_unless_the_headers_committed() {
    let reply =
        Reply::play([BodyPart::trailers(&[("grpc-status", "14"), ("grpc-retry-pushback-ms", "300")])]);
    for stack in Stack::ALL {
        let (seen, _) = call(stack, &setup(Compatibility::Documented), [reply.clone()]).await;
        assert_eq!(seen, good(&[0, 300]), "{stack:?}");
        let (seen, _) = call(stack, &setup(Compatibility::Grpc), [reply.clone()]).await;
        assert_eq!(seen, failed(&[0], DOWN, StopReason::Committed), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn back_off_comes_on_top_of_retry_info_and_of_a_proxys_retry_after() {
    let proxy = Reply::http(503, &[("retry-after", "2")]);
    // A server's own status has no `retry-after`.
    let no_proxy = Reply::play_with(&[("grpc-status", "14"), ("retry-after", "2")], []);
    for stack in Stack::ALL {
        for (rules, second, after_proxy) in [
            (Compatibility::Documented, 2100, 2100),
            (Compatibility::Grpc, 100, 100),
            (Compatibility::GaxJava, 100, 100),
        ] {
            let replies = [Reply::status(informed(2))];
            assert_eq!(call(stack, &setup(rules), replies).await.0, good(&[0, second]), "{rules} {stack:?}");
            let replies = [proxy.clone()];
            assert_eq!(
                call(stack, &setup(rules), replies).await.0,
                good(&[0, after_proxy]),
                "{rules} {stack:?}"
            );
            let replies = [no_proxy.clone()];
            assert_eq!(call(stack, &setup(rules), replies).await.0, good(&[0, 100]), "{rules} {stack:?}");
        }
        let (seen, _) = call(stack, &setup(Compatibility::GaxJava), [pushed(DOWN, &["-1"])]).await;
        assert_eq!(seen, good(&[0, 100]), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pushback_goes_before_retry_info() {
    let mut status = informed(2);
    status.metadata_mut().insert("grpc-retry-pushback-ms", "7".parse().unwrap());
    for stack in Stack::ALL {
        let (seen, _) = call(stack, &setup(Compatibility::Documented), [Reply::status(status.clone())]).await;
        assert_eq!(seen, good(&[0, 7]), "{stack:?}");
    }
}

/// Where no total timeout bounds the operation, a minute is the most for the two delays that are lower bounds.
#[tokio::test(start_paused = true)]
async fn only_a_pushback_may_ask_for_more_than_a_minute_of_an_endless_operation() {
    let endless = settings(3).to_builder().total_timeout(None).build().unwrap();
    for stack in Stack::ALL {
        let setup = Setup::new(endless.clone());
        let (seen, _) = call(stack, &setup, [Reply::status(informed(60))]).await;
        assert_eq!(seen, good(&[0, 60_100]), "{stack:?}");
        let (seen, _) = call(stack, &setup, [Reply::status(informed(61))]).await;
        assert_eq!(seen, failed(&[0], DOWN, StopReason::ServerDelayExceedsTotalTimeout), "{stack:?}");
        let (seen, _) = call(stack, &setup, [pushed(DOWN, &["100000"])]).await;
        assert_eq!(seen, good(&[0, 100_000]), "{stack:?}");
    }
}

/// Details that are broken ask for nothing, and panic nowhere.
#[tokio::test(start_paused = true)]
async fn broken_details_ask_for_nothing() {
    for bytes in [&b"\xff\xff\xff"[..], b"\x1a\x7f", b"\x1a\x02\x0a\xff"] {
        let status = Status::with_details(DOWN, "said", Bytes::from_static(bytes));
        let (seen, _) =
            call(Stack::Generated, &setup(Compatibility::Documented), [Reply::status(status)]).await;
        assert_eq!(seen, good(&[0, 100]), "{bytes:?}");
    }
}

/// When the requests came of an HTTP operation whose first attempt gets that reply.
async fn http(rules: Compatibility, act: HttpAct) -> (Vec<u128>, Option<StopReason>) {
    let layer = HttpRetryLayer::new(&settings(5), [Code::Unavailable])
        .options(OperationOptions::new().compatibility(rules));
    let (server, connector) = FaultServer::in_memory(HttpScript::new([act]));
    let request = http::Request::get("http://server/v1/things").body(Full::<Bytes>::default()).unwrap();
    let response = layer.layer(FaultServer::full_client(connector)).call(request).await.unwrap();
    let report = response.extensions().get::<OperationReport>().unwrap();
    (server.times(), report.stop_reason())
}

const INFO: &str = r#"{"error": {"code": 503, "details": [
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}]}}"#;

#[tokio::test(start_paused = true)]
async fn a_429_counts_only_with_retry_after_or_retry_info_where_the_settings_say_so() {
    let only = settings(5).to_builder().only_with_server_delay(Code::ResourceExhausted).build().unwrap();
    let times = |act: HttpAct| {
        let layer = HttpRetryLayer::new(&only, [Code::Unavailable, Code::ResourceExhausted]);
        async move {
            let (server, connector) = FaultServer::in_memory(HttpScript::new([act]));
            let request =
                http::Request::get("http://server/v1/things").body(Full::<Bytes>::default()).unwrap();
            let response = layer.layer(FaultServer::full_client(connector)).call(request).await.unwrap();
            (server.times(), response.status().as_u16())
        }
    };
    assert_eq!(times(HttpAct::status(429)).await, (vec![0], 429));
    assert_eq!(times(HttpAct::status(429).with_body("{}")).await, (vec![0], 429));
    assert_eq!(times(HttpAct::status(429).with_header("retry-after", "2")).await, (vec![0, 2100], 200));
    assert_eq!(times(HttpAct::status(429).with_body(INFO.replace("503", "429"))).await, (vec![0, 3100], 200));
    assert_eq!(times(HttpAct::status(503)).await, (vec![0, 100], 200));
}

#[tokio::test(start_paused = true)]
async fn retry_info_in_the_body_of_an_http_error_counts_like_retry_after() {
    let act = || HttpAct::status(503).with_body(INFO);
    assert_eq!(http(Compatibility::Documented, act()).await, (vec![0, 3100], None));
    assert_eq!(http(Compatibility::Grpc, act()).await, (vec![0, 100], None));
    assert_eq!(http(Compatibility::GaxJava, act()).await, (vec![0, 100], None));
    // Of the two the longer one counts.
    let both = |seconds| act().with_header("retry-after", seconds);
    assert_eq!(http(Compatibility::Documented, both("2")).await, (vec![0, 3100], None));
    assert_eq!(http(Compatibility::Documented, both("4")).await, (vec![0, 4100], None));
    // The part of a long body that is read is enough.
    let long = INFO.replace("]}}", "]}, \"padding\": \"") + &"x".repeat(100_000) + "\"}";
    assert_eq!(
        http(Compatibility::Documented, HttpAct::status(503).with_body(long)).await,
        (vec![0, 3100], None)
    );
    let (times, reason) =
        http(Compatibility::Documented, HttpAct::status(503).with_body(INFO.replace("3s", "10s"))).await;
    assert_eq!((times, reason), (vec![0], Some(StopReason::ServerDelayExceedsTotalTimeout)));
}

/// When two hundred clients come back that got one moment at once, in milliseconds: the first, the last, and the
/// most of them within a twentieth of the delay.
fn herd(mut times: Vec<u128>, asked: u128) -> (u128, u128, usize) {
    times.sort_unstable();
    let back = times.split_off(200);
    assert_eq!((times.last(), back.len()), (Some(&0), 200));
    let part = asked / 20;
    let most =
        back.iter().map(|from| back.iter().filter(|at| *at >= from && **at < from + part).count()).max();
    (*back.first().unwrap(), *back.last().unwrap(), most.unwrap())
}

#[tokio::test(start_paused = true)]
async fn clients_that_get_the_same_moment_come_back_over_half_of_the_wait() {
    let jittered = settings(5).to_builder().jittered(true).build().unwrap();
    for compatibility in [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc] {
        let acts = vec![HttpAct::status(503).with_header("retry-after", "4"); 200];
        let (server, connector) = FaultServer::in_memory(HttpScript::new(acts));
        let layer = HttpRetryLayer::new(&jittered, [Code::Unavailable]);
        let layer = layer
            .options(OperationOptions::new().compatibility(compatibility).server_delays(true).jitter_seed(7));
        let client = layer.layer(FaultServer::full_client(connector));
        let get = |_| {
            let request = http::Request::get("http://server/v1/things").body(Full::<Bytes>::default());
            let client = client.clone();
            tokio::spawn(async move { client.send(request.unwrap()).await.unwrap().status() })
        };
        for call in (0..200).map(get).collect::<Vec<_>>() {
            assert_eq!(call.await.unwrap(), 200, "{compatibility}");
        }
        let (first, last, most) = herd(server.times(), 4000);
        assert!((4000..4100).contains(&first) && (5900..=6001).contains(&last), "{first} {last}");
        assert!(most < 50, "{most} of 200 within 200 ms by {compatibility}");
    }
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::at_once(vec![Reply::status(informed(4)); 200]));
        let setup = Setup::new(jittered.clone()).retrying([Code::Unavailable]);
        let call = |_| {
            let mut caller = stack.caller(server.channel(), &setup);
            tokio::spawn(async move { caller.list(ListAssetsRequest::default()).await.map(drop) })
        };
        for call in (0..200).map(call).collect::<Vec<_>>() {
            call.await.unwrap().unwrap();
        }
        let times = server.seen().iter().map(|(at, _)| u128::from(*at)).collect();
        let (first, last, most) = herd(times, 4000);
        assert!((4000..4100).contains(&first) && (5900..=6001).contains(&last), "{first} {last} {stack:?}");
        assert!(most < 50, "{most} of 200 within 200 ms: {stack:?}");
    }
}
