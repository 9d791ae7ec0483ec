//! An outage against settings that name no delays: what is left out must not make a client hammer.

use gax_retry::{Code, RetrySettings, StopReason};
use std::cell::Cell;
use std::time::Duration;
use tonic::Status;
use tonic_gax::{CallOptions, RequestExt as _, Retryer, retry};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ExportAssetsRequest,
    ListAssetsRequest,
};
use tonic_gax_tests::{Answer, Script, Setup, Stack, VirtualServer, error_report, ms};

/// A policy-less method that a call brings codes to, for two seconds.
#[tokio::test(start_paused = true)]
async fn codes_on_a_method_without_a_policy_come_with_delays() {
    let server = VirtualServer::start(Script::always(Answer::unavailable()));
    let mut settings = AssetServiceSettings::create(AssetServiceStubSettings::builder().build().unwrap());
    settings = settings.with_jitter_seed(3);
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
    let error = Retryer::new(&exact, [Code::Unavailable]).run(refused).await.unwrap_err();
    let starts: Vec<_> = error.report().attempts().iter().map(gax_retry::Attempt::start).collect();
    assert_eq!(starts[..4], [ms(0), ms(100), ms(230), ms(399)]);
    assert_eq!(starts.len(), 13);
}

/// Who means it can still have it.
#[tokio::test(start_paused = true)]
async fn a_delay_of_zero_is_at_once() {
    let settings =
        RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(50).build().unwrap();
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Answer::unavailable()));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings.clone()));
        caller.list(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(server.seen(), [(0, None); 50], "{stack:?}");
    }
}
