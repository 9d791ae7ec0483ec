//! A duration of zero is no time, never no limit: the call ends at once and nothing is sent.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::Retryer;
use gax_driver::report::Delivery;
use gax_http::HttpRetryLayer;
use gax_retry::{Code, Compatibility, RetrySettings, StopReason};
use gax_table::RetryTable;
use http_body_util::Full;
use std::time::Duration;
use tonic_gax::{
    CallOptions, OperationError, OperationOptions, OperationReport, RequestExt as _, RetryLayer,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::{
    FaultServer, HttpScript, Reply, Script, Setup, Stack, VirtualServer, delays, error_report, ms, report_of,
};
use tower_service::Service as _;

const COMPATIBILITIES: [Compatibility; 3] =
    [Compatibility::Documented, Compatibility::GaxJava, Compatibility::Grpc];

fn settings() -> RetrySettings {
    RetrySettings::builder().total_timeout(ms(5000)).initial_rpc_timeout(ms(1000)).build().unwrap()
}

/// The options of a program that has used up its own time.
fn options() -> [(&'static str, CallOptions); 4] {
    let zero = Duration::ZERO;
    [
        ("timeout", CallOptions::new().timeout(zero)),
        ("attempt timeout", CallOptions::new().attempt_timeout(zero)),
        ("no_retry", CallOptions::new().retry_settings(RetrySettings::no_retry(zero))),
        ("logical_timeout", CallOptions::new().retry_settings(settings().with_logical_timeout(zero))),
    ]
}

fn ended_at_once(report: &OperationReport, label: &str) {
    assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout), "{label}");
    assert_eq!(report.attempts(), [], "{label}");
}

#[tokio::test(start_paused = true)]
async fn a_call_without_time_ends_at_once() {
    for stack in Stack::ALL {
        for compatibility in COMPATIBILITIES {
            let server = VirtualServer::start(Script::always(Reply::Hang));
            let mut caller =
                stack.caller(server.channel(), &Setup::new(settings()).compatible(compatibility));
            for (name, options) in options() {
                let label = format!("{name}, {stack:?}, {compatibility}");
                let request = tonic::Request::new(ListAssetsRequest::default()).with_call_options(options);
                let status = caller.list(request).await.unwrap_err();
                assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{label}");
                ended_at_once(&error_report(&status), &label);
            }
            for settings in [RetrySettings::no_retry(Duration::ZERO), settings().bounded_by(Duration::ZERO)] {
                let mut caller =
                    stack.caller(server.channel(), &Setup::new(settings).compatible(compatibility));
                let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
                assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}, {compatibility}");
                ended_at_once(&error_report(&status), &format!("{stack:?}, {compatibility}"));
            }
            assert_eq!(
                (server.seen(), server.log().elapsed()),
                (vec![], ms(0)),
                "{stack:?}, {compatibility}"
            );
        }
    }
}

/// A call's own settings replace those of its method, which had no time.
#[tokio::test(start_paused = true)]
async fn a_call_may_bring_time_to_a_method_without() {
    for stack in Stack::ALL {
        for compatibility in COMPATIBILITIES {
            let server = VirtualServer::start(Script::always(Reply::Pass));
            let none = Setup::new(RetrySettings::no_retry(Duration::ZERO)).compatible(compatibility);
            let mut caller = stack.caller(server.channel(), &none);
            let options = CallOptions::new().retry_settings(settings());
            let request = tonic::Request::new(ListAssetsRequest::default()).with_call_options(options);
            caller.list(request).await.unwrap();
            assert_eq!(server.seen().len(), 1, "{stack:?}, {compatibility}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_time_ends_at_once() {
    let table =
        RetryTable::builder().service("test.talk.v1.Talk", settings(), [Code::Unavailable]).build().unwrap();
    for compatibility in COMPATIBILITIES {
        let server = VirtualServer::start(Script::always(Reply::Pass));
        let layer =
            RetryLayer::new(table.clone()).options(OperationOptions::new().compatibility(compatibility));
        let mut client = TalkClient::new(layer.layer(server.channel()));
        for (name, options) in options() {
            let label = format!("{name}, {compatibility}");
            let lines = tonic::Request::new(tokio_stream::iter([Line::default(), Line::default()]));
            let status = client.chat(lines.with_call_options(options)).await.unwrap_err();
            assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{label}");
            ended_at_once(&error_report(&status), &label);
        }
        assert_eq!(server.seen(), [], "{compatibility}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_http_request_without_time_is_not_sent() {
    let get = || http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    for compatibility in COMPATIBILITIES {
        let (server, connector) = FaultServer::in_memory(HttpScript::new([]));
        let client = FaultServer::full_client(connector);
        let layer = || {
            HttpRetryLayer::new(&settings(), [Code::Unavailable])
                .options(OperationOptions::new().reports(true).compatibility(compatibility))
        };
        for (name, options) in options() {
            let label = format!("{name}, {compatibility}");
            let mut request = get();
            request.extensions_mut().insert(options);
            let error = layer().layer(client.clone()).call(request).await.map(|_| ()).unwrap_err();
            assert_eq!(error.code(), Code::DeadlineExceeded, "{label}");
            ended_at_once(error.report(), &label);
        }
        let layer = layer().attempt_timeout(Duration::ZERO);
        let error = layer.layer(client.clone()).call(get()).await.map(|_| ()).unwrap_err();
        ended_at_once(error.report(), "layer");
        assert_eq!(server.times(), Vec::<u128>::new(), "{compatibility}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_closure_without_time_is_not_called() {
    for compatibility in COMPATIBILITIES {
        for settings in
            [RetrySettings::no_retry(Duration::ZERO), RetrySettings::logical_timeout(Duration::ZERO)]
        {
            let retryer = Retryer::new(&settings, [Code::Unavailable])
                .options(OperationOptions::new().compatibility(compatibility));
            let mut calls = 0;
            let call = |_| {
                calls += 1;
                std::future::pending::<Result<(), tonic::Status>>()
            };
            let error = retryer.run(call).await.unwrap_err();
            ended_at_once(error.report(), &compatibility.to_string());
            assert!(error.last().is_none());
            let error = retryer.run_blocking(|_| Ok::<(), tonic::Status>(())).unwrap_err();
            ended_at_once(error.report(), &compatibility.to_string());
            assert_eq!(calls, 0, "{compatibility}");
        }
    }
}

/// Two attempts, the first of 0.9 ms.
fn sub_millisecond() -> RetrySettings {
    delays(100, None).initial_rpc_timeout(Duration::from_micros(900)).max_attempts(2).build().unwrap()
}

/// The first attempt was over before it was sent, and the second has no timeout, since zero times anything is none. How
/// that ended.
fn second_is_sent(report: &OperationReport) -> Code {
    let [first, second] = report.attempts() else { panic!("{report}") };
    assert_eq!((first.rpc_timeout(), first.end()), (Some(Duration::from_micros(900)), Duration::ZERO));
    assert_eq!((first.code(), first.delay()), (Code::DeadlineExceeded, Duration::ZERO));
    assert_eq!((second.rpc_timeout(), second.start()), (None, ms(100)));
    second.code()
}

/// By gax-java's rules a timeout is cut to whole milliseconds: the attempt is over before it is sent.
#[tokio::test(start_paused = true)]
async fn an_attempt_of_less_than_a_millisecond_is_not_sent_by_java_s_rules() {
    let settings = sub_millisecond();
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let setup = Setup::new(settings.clone()).compatible(Compatibility::GaxJava);
        let report = report_of(&stack.list(server.channel(), &setup).await);
        assert_eq!(second_is_sent(&report), Code::Ok, "{stack:?}");
        assert_eq!(server.seen(), [(100, None)], "{stack:?}");
    }
    let documented = Setup::new(settings);
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let mut caller = Stack::Generated.caller(server.channel(), &documented);
    caller.list(ListAssetsRequest::default()).await.unwrap();
    assert_eq!(server.log().arrivals()[0].grpc_timeout(), Some("900000n"));
}

#[tokio::test(start_paused = true)]
async fn an_http_request_of_less_than_a_millisecond_is_not_sent_by_java_s_rules() {
    for (compatibility, times) in [(Compatibility::GaxJava, vec![100]), (Compatibility::Documented, vec![0])]
    {
        let (server, connector) = FaultServer::in_memory(HttpScript::new([]));
        let layer = HttpRetryLayer::new(&sub_millisecond(), Code::DeadlineExceeded);
        let layer = layer.options(OperationOptions::new().compatibility(compatibility).reports(true));
        let request = http::Request::post("http://server/thing").body(Full::<Bytes>::default()).unwrap();
        let response = layer.layer(FaultServer::full_client(connector)).call(request).await.unwrap();
        assert_eq!(server.times(), times, "{compatibility}");
        if compatibility == Compatibility::GaxJava {
            assert_eq!(second_is_sent(response.extensions().get().unwrap()), Code::Ok);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_closure_of_less_than_a_millisecond_is_not_called_by_java_s_rules() {
    let retryer = |compatibility| {
        Retryer::new(&sub_millisecond(), [Code::DeadlineExceeded])
            .options(OperationOptions::new().compatibility(compatibility))
    };
    let called = std::cell::RefCell::new(Vec::new());
    let call = |attempt: tonic_gax::StartedAttempt| {
        called.borrow_mut().push(attempt.number());
        async { Ok::<_, tonic::Status>(()) }
    };
    let done = retryer(Compatibility::GaxJava).run(call).await.unwrap();
    assert_eq!((second_is_sent(done.report()), called.take()), (Code::Ok, vec![2]));
    retryer(Compatibility::Documented).run(call).await.unwrap();
    assert_eq!(called.take(), [1]);
}

#[test]
fn nor_is_a_blocking_one() {
    let at_once = sub_millisecond().to_builder().initial_retry_delay(Duration::ZERO).build().unwrap();
    let retryer = Retryer::new(&at_once, [Code::DeadlineExceeded])
        .options(OperationOptions::new().compatibility(Compatibility::GaxJava));
    let mut called = Vec::new();
    let done = retryer.run_blocking(|attempt| {
        called.push((attempt.number(), attempt.rpc_timeout()));
        Ok::<_, tonic::Status>(())
    });
    assert_eq!(called, [(2, None)]);
    assert_eq!(done.unwrap().report().attempts()[0].code(), Code::DeadlineExceeded);
}

/// Nobody can have done anything for it.
#[tokio::test(start_paused = true)]
async fn what_was_over_before_it_was_sent_has_no_effect() {
    let once = sub_millisecond().to_builder().max_attempts(1).total_timeout(Duration::from_micros(900));
    let setup = Setup::new(once.build().unwrap()).compatible(Compatibility::GaxJava);
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let status = stack.list(server.channel(), &setup).await.unwrap_err();
        let error = OperationError::of(&status).unwrap();
        assert_eq!((error.report().attempt_count(), error.delivery()), (1, Delivery::NotSent), "{stack:?}");
        assert_eq!(server.seen(), [], "{stack:?}");
    }
}
