//! Options of a single call, over its method's settings.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::HttpRetryLayer;
use gax_retry::{Code, CodeSet, Compatibility, RetrySettings, StopReason};
use http_body_util::Full;
use std::time::Duration;
use tonic::Request;
use tonic_gax::{CallOptions, OperationOptions, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, VirtualServer, delays, error_report, ms,
    report_of, row, rows,
};
use tower_service::Service as _;

const COMPATIBILITIES: [Compatibility; 3] =
    [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc];

/// Four attempts after 100, 200 and 300 ms, a second each, in five seconds.
fn method() -> RetrySettings {
    delays(100, 2.0)
        .max_retry_delay(ms(300))
        .initial_rpc_timeout(ms(1000))
        .max_rpc_timeout(ms(1000))
        .total_timeout(ms(5000))
        .max_attempts(4)
        .build()
        .unwrap()
}

fn listing(options: &CallOptions) -> Request<ListAssetsRequest> {
    Request::new(ListAssetsRequest::default()).with_call_options(options.clone())
}

type Seen = Vec<(u64, Option<u64>)>;

/// The requests of a call with these options, alike over every stack, and why the call ends.
async fn seen(setup: &Setup, reply: &Reply, options: &CallOptions) -> (Seen, StopReason) {
    let mut outcomes = Vec::new();
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(reply.clone()));
        let mut caller = stack.caller(server.channel(), setup);
        let report = report_of(&caller.list(listing(options)).await);
        outcomes.push((server.seen(), report.stop_reason().unwrap()));
    }
    let first = outcomes.swap_remove(0);
    assert!(outcomes.iter().all(|outcome| *outcome == first), "{first:?} {outcomes:?}");
    first
}

async fn refused(options: &CallOptions) -> (Seen, StopReason) {
    seen(&Setup::new(method()), &Reply::unavailable(), options).await
}

#[tokio::test(start_paused = true)]
async fn each_field_is_changed_alone() {
    let none = CallOptions::new;
    let second = |starts: &[u64]| starts.iter().map(|start| (*start, Some(1000))).collect::<Vec<_>>();
    let attempts = StopReason::MaxAttempts;
    assert_eq!(refused(&none()).await, (second(&[0, 100, 300, 600]), attempts));
    assert_eq!(refused(&none().max_attempts(2)).await, (second(&[0, 100]), attempts));
    assert_eq!(refused(&none().max_attempts(5)).await, (second(&[0, 100, 300, 600, 900]), attempts));
    assert_eq!(refused(&none().without_retries()).await, (second(&[0]), attempts));
    let shorter = none().initial_retry_delay(ms(50));
    assert_eq!(refused(&shorter).await, (second(&[0, 50, 150, 350]), attempts));
    let at_once = none().initial_retry_delay(Duration::ZERO);
    assert_eq!(refused(&at_once).await, (second(&[0, 0, 0, 0]), attempts));
    let steady = none().retry_delay_multiplier(1.0);
    assert_eq!(refused(&steady).await, (second(&[0, 100, 200, 300]), attempts));
    let capped = none().max_retry_delay(ms(150));
    assert_eq!(refused(&capped).await, (second(&[0, 100, 250, 400]), attempts));
    let quick = none().attempt_timeout(ms(200));
    let table = vec![(0, Some(200)), (100, Some(200)), (300, Some(200)), (600, Some(200))];
    assert_eq!(refused(&quick).await, (table, attempts));
}

#[tokio::test(start_paused = true)]
async fn each_default_of_a_delay_stands_by_itself() {
    let unset = || RetrySettings::builder().jittered(false).total_timeout(ms(5000)).max_attempts(5);
    let initial = || unset().initial_retry_delay(ms(100));
    let spellings = [
        (unset(), CallOptions::new()),
        (initial(), CallOptions::new()),
        (unset(), CallOptions::new().initial_retry_delay(ms(100))),
        (initial().retry_delay_multiplier(1.3), CallOptions::new()),
        (unset().retry_delay_multiplier(1.3), CallOptions::new().max_retry_delay(ms(60_000))),
        (initial().max_retry_delay(ms(60_000)), CallOptions::new()),
    ];
    for (settings, options) in spellings {
        let settings = settings.build().unwrap();
        let (seen, _) = seen(&Setup::new(settings.clone()), &Reply::unavailable(), &options).await;
        let starts: Vec<u64> = seen.iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [0, 100, 230, 399, 619], "{settings:?} {options:?}");
    }
    let constant = Setup::new(initial().retry_delay_multiplier(1.0).build().unwrap());
    let (seen, _) = seen(&constant, &Reply::unavailable(), &CallOptions::new()).await;
    assert_eq!(seen.last(), Some(&(400, Some(4600))));
}

#[tokio::test(start_paused = true)]
async fn a_limit_can_be_lifted() {
    let none = CallOptions::new;
    // The total is all that is left to end it.
    let (table, stop) = refused(&none().without_max_attempts()).await;
    assert_eq!((table.len(), stop), (18, StopReason::TotalTimeout));
    assert_eq!(table.last(), Some(&(4800, Some(200))));
    // An attempt may use all that is left.
    let table = vec![(0, Some(5000)), (100, Some(4900)), (300, Some(4700)), (600, Some(4400))];
    assert_eq!(refused(&none().without_attempt_timeout()).await, (table, StopReason::MaxAttempts));
    // Nothing bounds an attempt.
    let table = vec![(0, None), (100, None), (300, None), (600, None)];
    let unbounded = none().without_attempt_timeout().without_timeout();
    assert_eq!(refused(&unbounded).await, (table, StopReason::MaxAttempts));
    // Nothing bounds the operation.
    let neither = none().without_timeout().without_max_attempts();
    assert_eq!(refused(&neither).await, (vec![(0, Some(1000))], StopReason::NoLimits));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_replaces_the_total_be_it_longer_or_shorter() {
    let none = CallOptions::new;
    let hung =
        |options: CallOptions| async move { seen(&Setup::new(method()), &Reply::Hang, &options).await };
    let late = StopReason::TotalTimeout;
    let table = vec![(0, Some(1000)), (1100, Some(1000)), (2300, Some(700))];
    assert_eq!(hung(none().timeout(ms(3000))).await, (table, late));
    let table = vec![(0, Some(1000)), (1100, Some(1000)), (2300, Some(1000)), (3600, Some(1000))];
    assert_eq!(hung(none().timeout(ms(60_000))).await, (table.clone(), StopReason::MaxAttempts));
    assert_eq!(hung(none().without_timeout()).await, (table, StopReason::MaxAttempts));
    let longer = none().timeout(ms(60_000)).without_attempt_timeout();
    assert_eq!(hung(longer).await, (vec![(0, Some(60_000))], late));
}

#[tokio::test(start_paused = true)]
async fn no_timeout_leaves_the_caller_s_own_deadline() {
    let options = CallOptions::new().without_timeout().without_attempt_timeout().without_max_attempts();
    for compatibility in COMPATIBILITIES {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::always(Reply::Hang));
            let setup = Setup::new(method()).compatible(compatibility);
            let mut request = listing(&options);
            request.set_timeout(ms(700));
            let report = report_of(&stack.caller(server.channel(), &setup).list(request).await);
            let table = [row(1, 700, 0, 0, 700, Code::DeadlineExceeded)];
            assert_eq!(rows(&report), table, "{stack:?} {compatibility:?}");
            assert_eq!(server.seen(), [(0, Some(700))], "{stack:?} {compatibility:?}");
        }
    }
}

/// A call's timeout is the caller's deadline: by gax-java's rules an attempt outlives the total, but not that.
#[tokio::test(start_paused = true)]
async fn no_attempt_outlives_the_timeout_of_its_call() {
    let endless = method().to_builder().initial_rpc_timeout(None).max_rpc_timeout(None).build().unwrap();
    for compatibility in COMPATIBILITIES {
        let setup = Setup::new(endless.clone()).compatible(compatibility);
        let options = CallOptions::new().timeout(ms(800));
        let (table, stop) = seen(&setup, &Reply::Hang, &options).await;
        assert_eq!((table, stop), (vec![(0, Some(800))], StopReason::TotalTimeout), "{compatibility:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn single_fields_go_over_whole_settings_in_any_order() {
    let whole = method().to_builder().initial_retry_delay(ms(20)).max_attempts(9).build().unwrap();
    let options = [
        CallOptions::new().retry_settings(whole.clone()).max_attempts(3).retryable_codes([Code::Aborted]),
        CallOptions::new().max_attempts(3).retryable_codes([Code::Aborted]).retry_settings(whole.clone()),
        CallOptions::new().retryable_codes([Code::Aborted]).retry_settings(whole).max_attempts(3),
    ];
    for compatibility in COMPATIBILITIES {
        for options in &options {
            let setup = Setup::new(method()).compatible(compatibility);
            let (table, stop) = seen(&setup, &Reply::code(tonic::Code::Aborted), options).await;
            let starts: Vec<u64> = table.iter().map(|(start, _)| *start).collect();
            assert_eq!(starts, [0, 20, 60], "{compatibility:?}");
            assert_eq!(stop, StopReason::MaxAttempts);
        }
    }
}

/// By gax-java's rules codes alone don't turn retries on, but codes and a number of attempts do.
#[tokio::test(start_paused = true)]
async fn retries_can_be_turned_on_for_a_call() {
    let off = RetrySettings::no_retry(ms(5000));
    let codes = CallOptions::new().retryable_codes([Code::Unavailable]);
    let both = codes.clone().max_attempts(2).initial_retry_delay(Duration::ZERO);
    for compatibility in COMPATIBILITIES {
        let setup = Setup::new(off.clone()).retrying(CodeSet::EMPTY).compatible(compatibility);
        let (table, _) = seen(&setup, &Reply::unavailable(), &codes).await;
        assert_eq!(table, [(0, Some(5000))], "{compatibility:?}");
        let (table, _) = seen(&setup, &Reply::unavailable(), &both).await;
        assert_eq!(table.iter().map(|(start, _)| *start).collect::<Vec<_>>(), [0, 0], "{compatibility:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn codes_without_any_limit_are_one_attempt() {
    let settings = RetrySettings::builder().jittered(false).build().unwrap();
    let setup = Setup::new(settings).retrying(CodeSet::EMPTY);
    let options = CallOptions::new().retryable_codes(tonic::Code::Unavailable);
    let (table, stop) = seen(&setup, &Reply::unavailable(), &options).await;
    assert_eq!((table, stop), (vec![(0, None)], StopReason::NoLimits));
    // A deadline of the caller's is one.
    let (table, stop) = seen(&setup, &Reply::unavailable(), &options.timeout(ms(150))).await;
    assert_eq!((table, stop), (vec![(0, Some(150)), (100, Some(50))], StopReason::TotalTimeout));
}

#[tokio::test(start_paused = true)]
async fn codes_of_tonic_and_numbers_are_taken() {
    let options = [
        CallOptions::new().retryable_codes([tonic::Code::Aborted, tonic::Code::Internal]),
        CallOptions::new().retryable_codes(vec![10, 13]),
        CallOptions::new().retryable_codes(Code::Aborted),
        CallOptions::new().retryable_codes(CodeSet::from(Code::Aborted)),
    ];
    for options in &options {
        let (table, _) = seen(&Setup::new(method()), &Reply::code(tonic::Code::Aborted), options).await;
        assert_eq!(table.len(), 4, "{options:?}");
    }
    let (table, stop) = refused(&CallOptions::new().retryable_codes(CodeSet::EMPTY)).await;
    assert_eq!((table.len(), stop), (1, StopReason::NonRetryable));
}

fn invalid() -> Vec<(CallOptions, &'static str)> {
    let none = CallOptions::new;
    let factor = "but must be a finite number, at least 1";
    let code = "but gRPC status codes are numbered from 0 to 16";
    vec![
        (none().max_attempts(0), "max_attempts is 0, but must be at least 1 (the first attempt counts)"),
        (none().retry_delay_multiplier(f64::NAN), factor),
        (none().retry_delay_multiplier(f64::INFINITY), factor),
        (none().retry_delay_multiplier(0.5), factor),
        (
            none().max_retry_delay(ms(99)),
            "max_retry_delay is 99ms, but must not be shorter than initial_retry_delay (100ms)",
        ),
        (
            none().initial_retry_delay(ms(301)),
            "max_retry_delay is 300ms, but must not be shorter than initial_retry_delay (301ms)",
        ),
        (none().retryable_codes([14, 99]), code),
        (none().retryable_codes(-1).max_attempts(0), code),
    ]
}

#[tokio::test(start_paused = true)]
async fn options_that_can_t_work_end_the_call_and_nothing_is_sent() {
    for compatibility in COMPATIBILITIES {
        let setup = Setup::new(method()).compatible(compatibility);
        for stack in Stack::ALL {
            for (options, problem) in invalid() {
                let server = VirtualServer::start(Script::always(Reply::Serve));
                let mut caller = stack.caller(server.channel(), &setup);
                let status = caller.list(listing(&options)).await.unwrap_err();
                assert_eq!(status.code(), tonic::Code::InvalidArgument, "{stack:?} {options:?}");
                assert!(status.message().contains(problem), "{}", status.message());
                let report = error_report(&status);
                assert_eq!(report.stop_reason(), Some(StopReason::InvalidOptions));
                assert_eq!((report.attempts(), server.seen()), ([].as_slice(), vec![]));
            }
        }
    }
}

/// A request that never ends is not read first.
#[tokio::test(start_paused = true)]
async fn a_stream_of_requests_is_not_read_for_options_that_can_t_work() {
    for layer in [Setup::new(method()).layer(), Setup::new(method()).layer_with_descriptors()] {
        for (options, _) in invalid() {
            let server = VirtualServer::start(Script::always(Reply::Serve));
            let mut client = TalkClient::new(layer.layer(server.channel()));
            let request = Request::new(tokio_stream::pending::<Line>()).with_call_options(options);
            let status = client.tell(request).await.unwrap_err();
            assert_eq!(status.code(), tonic::Code::InvalidArgument);
            assert_eq!(error_report(&status).stop_reason(), Some(StopReason::InvalidOptions));
            assert_eq!(server.seen(), []);
        }
    }
}

/// Options that can't work are reported for a method that no table knows, too.
#[tokio::test(start_paused = true)]
async fn an_unlisted_method_has_the_same_rules() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let table = gax_table::RetryTable::builder().build().unwrap();
    let layer = tonic_gax::RetryLayer::new(table);
    let mut client = TalkClient::new(layer.layer(server.channel()));
    let wrong = Request::new(Line::default()).with_call_options(CallOptions::new().max_attempts(0));
    assert_eq!(client.ask(wrong).await.unwrap_err().code(), tonic::Code::InvalidArgument);
    let options = CallOptions::new().max_attempts(2).initial_retry_delay(Duration::ZERO);
    let options = options.retryable_codes([tonic::Code::Unavailable]);
    let status = client.ask(Request::new(Line::default()).with_call_options(options)).await.unwrap_err();
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::MaxAttempts));
    assert_eq!(server.seen(), [(0, None), (0, None)]);
}

#[tokio::test(start_paused = true)]
async fn an_http_request_has_the_same_rules() {
    for compatibility in COMPATIBILITIES {
        for (options, problem) in invalid() {
            let (server, connector) = FaultServer::in_memory(HttpScript::new([]));
            let layer = HttpRetryLayer::new(&method(), [Code::Unavailable])
                .options(OperationOptions::new().compatibility(compatibility));
            let mut client = layer.layer(FaultServer::full_client(connector));
            let request = http::Request::get("http://server/thing").extension(options);
            let request = request.body(Full::<Bytes>::default()).unwrap();
            let error = client.call(request).await.map(|_| ()).unwrap_err();
            assert_eq!(error.stop_reason(), Some(StopReason::InvalidOptions));
            assert_eq!((error.code(), error.failure()), (Code::InvalidArgument, None));
            assert!(error.to_string().contains(problem), "{error}");
            assert_eq!(server.times(), Vec::<u128>::new(), "{compatibility}");
        }
    }
}

/// A limit by time of a strategy gives way to the call's, and no attempt outlives that.
#[tokio::test(start_paused = true)]
async fn a_preset_s_limits_are_changed_like_settings() {
    let options = CallOptions::new().timeout(ms(700)).initial_retry_delay(ms(100)).max_attempts(9);
    let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Stall));
    let mut client =
        HttpRetryLayer::preset(&gax_http::presets::storage()).layer(FaultServer::full_client(connector));
    let request = http::Request::get("http://server/thing").extension(options);
    let request = request.body(Full::<Bytes>::default()).unwrap();
    let error = client.call(request).await.map(|_| ()).unwrap_err();
    assert_eq!(error.stop_reason(), Some(StopReason::TotalTimeout));
    assert_eq!((error.report().elapsed(), server.times()), (ms(700), vec![0]));
}

/// In gax-java the timeout of a call replaces the RPC timeout of its attempts, and changes nothing else.
#[tokio::test(start_paused = true)]
async fn by_gax_java_s_rules_no_timeout_of_a_call_turns_retries_on() {
    let limited = RetrySettings::builder().jittered(false).total_timeout(ms(10_000)).build().unwrap();
    let single = limited.to_builder().max_attempts(1).build().unwrap();
    let java = |settings: &RetrySettings, codes| {
        Setup::new(settings.clone()).retrying(codes).compatible(Compatibility::GaxJava)
    };
    let down = CodeSet::from(Code::Unavailable);
    let with_codes = CallOptions::new().retryable_codes(down);
    for (setup, options) in [
        (java(&limited, CodeSet::EMPTY), with_codes.clone()),
        (java(&limited, CodeSet::EMPTY), with_codes.clone().timeout(ms(10_000))),
        (java(&limited, CodeSet::EMPTY), with_codes.clone().attempt_timeout(ms(10_000))),
        (java(&limited, CodeSet::EMPTY), with_codes.clone().without_attempt_timeout()),
        (java(&single, down), CallOptions::new().attempt_timeout(ms(10_000))),
        (java(&single, down), CallOptions::new().timeout(ms(10_000)).attempt_timeout(ms(10_000))),
    ] {
        let outcome = seen(&setup, &Reply::unavailable(), &options).await;
        assert_eq!(outcome, (vec![(0, Some(10_000))], StopReason::MaxAttempts), "{options:?}");
    }
}

/// A layer's table may have codes without any limit, which stub settings refuse.
#[tokio::test(start_paused = true)]
async fn by_gax_java_s_rules_a_method_without_limits_has_one_attempt_whatever_timeouts_a_call_has() {
    let settings = RetrySettings::builder().jittered(false).build().unwrap();
    let setup = Setup::new(settings).retrying(Code::Unavailable).compatible(Compatibility::GaxJava);
    for (options, timeout) in [
        (CallOptions::new(), None),
        (CallOptions::new().timeout(ms(10_000)), Some(10_000)),
        (CallOptions::new().attempt_timeout(ms(2000)), Some(2000)),
        (CallOptions::new().without_attempt_timeout(), None),
    ] {
        for stack in [Stack::Layer, Stack::LayerWithDescriptors] {
            let server = VirtualServer::start(Script::always(Reply::unavailable()));
            let mut caller = stack.caller(server.channel(), &setup);
            let report = report_of(&caller.list(listing(&options)).await);
            assert_eq!(server.seen(), [(0, timeout)], "{options:?} {stack:?}");
            assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts), "{options:?} {stack:?}");
        }
    }
}
