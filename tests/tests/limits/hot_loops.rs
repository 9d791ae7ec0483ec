//! An outage against settings that name no delays: what is left out must not make a client hammer.

use bytes::Bytes;
use gax_driver::{Retryer, retry, retry_blocking};
use gax_http::{HttpReport, HttpRetryLayer};
use gax_retry::http::HttpFailure;
use gax_retry::{Attempt, Code, RetrySettings, StopReason};
use http_body_util::Full;
use std::cell::Cell;
use std::time::Duration;
use tonic::Status;
use tonic_gax::{CallOptions, OperationOptions, OperationReport, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ExportAssetsRequest,
    ListAssetsRequest,
};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, VirtualServer, error_report, ms,
};
use tower_service::Service as _;

/// A policy-less method that a call brings codes to, for two seconds.
#[tokio::test(start_paused = true)]
async fn codes_on_a_method_without_a_policy_come_with_delays() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let mut settings = AssetServiceSettings::create(AssetServiceStubSettings::builder().build().unwrap());
    settings = settings.with_options(OperationOptions::new().jitter_seed(3));
    let client = AssetServiceClient::with_settings(server.channel(), settings);
    let options = CallOptions::new().timeout(ms(2000)).retryable_codes([Code::Unavailable]);
    let request = tonic::Request::new(ExportAssetsRequest::default()).with_call_options(options);
    let report = error_report(&client.export_assets(request).await.unwrap_err());
    assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
    assert!((7..=25).contains(&server.seen().len()), "{}", server.seen().len());
}

#[tokio::test(start_paused = true)]
async fn a_total_timeout_alone_comes_with_delays() {
    let settings = RetrySettings::builder().total_timeout(ms(8000)).build().unwrap();
    let calls = Cell::new(0);
    let refused = || {
        calls.set(calls.get() + 1);
        async { Err::<(), _>(Status::unavailable("")) }
    };
    let error = retry(&settings, [Code::Unavailable], refused).await.unwrap_err();
    assert_eq!(error.report().stop_reason(), Some(StopReason::TotalTimeout));
    assert!((13..=40).contains(&calls.get()), "{}", calls.get());

    let exact = settings.to_builder().jittered(false).build().unwrap();
    let error = Retryer::new(&exact, [Code::Unavailable]).run(|_| refused()).await.unwrap_err();
    let starts: Vec<_> = error.report().attempts().iter().map(Attempt::start).collect();
    assert_eq!(starts[..4], [ms(0), ms(100), ms(230), ms(399)]);
    assert_eq!(starts.len(), 13);
}

/// Who means it can still have it.
#[tokio::test(start_paused = true)]
async fn a_delay_of_zero_is_at_once() {
    let settings =
        RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(50).build().unwrap();
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings.clone()));
        caller.list(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(server.seen(), [(0, None); 50], "{stack:?}");
    }
}

/// Who retries a thousand times gets both ends of what happened, and the count of the rest.
#[tokio::test(start_paused = true)]
async fn a_long_report_keeps_both_ends() {
    let settings = |attempts| {
        let builder = RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(attempts);
        builder.build().unwrap()
    };
    let report = |attempts: u32| {
        let failed = retry_blocking(&settings(attempts), [Code::Unavailable], || {
            Err::<(), _>(Status::unavailable(""))
        });
        failed.unwrap_err().report().clone()
    };
    let numbers = |attempts: &[Attempt]| attempts.iter().map(Attempt::number).collect::<Vec<_>>();

    let long = report(1000);
    assert_eq!((long.attempt_count(), long.attempts_left_out()), (1000, 936));
    assert_eq!(numbers(long.first_attempts()), (1..=32).collect::<Vec<_>>());
    assert_eq!(numbers(long.last_attempts()), (969..=1000).collect::<Vec<_>>());
    assert_eq!(numbers(long.attempts()), (1..=32).chain(969..=1000).collect::<Vec<_>>());
    let text = long.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 + 32 + 1 + 32);
    assert_eq!(lines[35], "     .. | 936 left out");
    assert!(lines[36].starts_with("    969 | "), "{}", lines[36]);

    let short = report(40);
    assert_eq!((short.attempt_count(), short.attempts_left_out()), (40, 0));
    assert_eq!((short.first_attempts().len(), short.last_attempts().len()), (32, 8));
    assert!(!short.to_string().contains("left out"));
}

#[tokio::test(start_paused = true)]
async fn a_long_calls_report_keeps_both_ends_too() {
    let settings =
        RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(100).build().unwrap();
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let status = stack.list(server.channel(), &Setup::new(settings.clone())).await.unwrap_err();
        let report = error_report(&status);
        assert_eq!((report.attempt_count(), report.attempts().len()), (100, 64), "{stack:?}");
        let cause = std::error::Error::source(&status).unwrap().to_string();
        assert!(cause.contains("failed after 100 attempts"), "{cause}");
    }
    let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::status(503)));
    let client = FaultServer::full_client(connector);
    let get = http::Request::get("http://server/thing").body(Full::<Bytes>::default()).unwrap();
    let response = HttpRetryLayer::new(&settings, [Code::Unavailable])
        .options(OperationOptions::new().reports(true))
        .layer(client)
        .call(get)
        .await
        .unwrap();
    let report = response.extensions().get::<OperationReport>().unwrap();
    assert_eq!((report.attempt_count(), report.attempts_left_out()), (100, 36));
    assert_eq!(report.detail::<HttpReport>().unwrap().failures(), [HttpFailure::Status(503); 64]);
}
