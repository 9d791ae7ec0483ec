//! Whose settings count for the first call, and for polls.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by it")]

use super::replies::{START, client_with, exported, polls, replies, request, running, seen, server};
use gax_retry::{Code, CodeSet, RetrySettings};
use std::time::Duration;
use tonic_gax::{CallOptions, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_gax::{
    AssetServiceStubSettings, AssetServiceStubSettingsBuilder,
};
use tonic_gax_tests::ms;

/// The timeouts of the first call of an operation and of a plain call, as the server sees them.
async fn timeouts(change: impl Fn(&mut AssetServiceStubSettingsBuilder)) -> (Option<u64>, Option<u64>) {
    let server = server(replies(&exported()), [replies(&exported())]);
    let client = client_with(&server, change);
    client.export_assets_operation(request()).await.unwrap();
    client.export_assets(request()).await.unwrap();
    let arrivals = server.arrivals();
    (arrivals[0].timeout(), arrivals[1].timeout())
}

fn seconds(seconds: u64) -> RetrySettings {
    RetrySettings::no_retry(Duration::from_secs(seconds))
}

/// gax-java's `exportAssetsSettings()` has no effect on `exportAssetsAsync()`, which its own documentation gets wrong.
#[tokio::test(start_paused = true)]
async fn the_first_call_has_the_settings_of_its_rpc_unless_it_has_its_own() {
    assert_eq!(timeouts(|_| ()).await, (Some(60_000), Some(60_000)));
    let by_name = |settings: &mut AssetServiceStubSettingsBuilder| {
        settings.export_assets().set_retry_settings(seconds(7));
    };
    assert_eq!(timeouts(by_name).await, (Some(7000), Some(7000)));
    let its_own = |settings: &mut AssetServiceStubSettingsBuilder| {
        by_name(settings);
        let operation = settings.export_assets_operation();
        operation.initial_call_settings_mut().set_retry_settings(seconds(8));
    };
    assert_eq!(timeouts(its_own).await, (Some(8000), Some(7000)));
}

#[tokio::test(start_paused = true)]
async fn what_is_applied_to_all_is_for_plain_calls_alone() {
    let to_all = |settings: &mut AssetServiceStubSettingsBuilder| {
        settings.apply_to_all_unary_methods(|call| {
            call.set_retry_settings(seconds(9));
        });
    };
    let by_name = |settings: &mut AssetServiceStubSettingsBuilder| {
        settings.export_assets().set_retry_settings(seconds(7));
    };
    assert_eq!(timeouts(to_all).await, (Some(60_000), Some(9000)));
    let name_first = |settings: &mut AssetServiceStubSettingsBuilder| {
        by_name(settings);
        to_all(settings);
        to_all(settings);
    };
    assert_eq!(timeouts(name_first).await, (Some(7000), Some(9000)));
    let name_last = |settings: &mut AssetServiceStubSettingsBuilder| {
        to_all(settings);
        by_name(settings);
    };
    assert_eq!(timeouts(name_last).await, (Some(7000), Some(7000)));
    // Of what is set by name after it, only that counts: the codes here, and not the timeout.
    let mut settings = AssetServiceStubSettings::builder();
    to_all(&mut settings);
    settings.export_assets().set_retryable_codes([Code::Aborted]);
    let settings = settings.build().unwrap();
    let first = settings.export_assets_operation().initial_call_settings();
    assert_eq!(first.retryable_codes(), CodeSet::from([Code::Aborted]));
    assert_eq!(first.retry_settings().total_timeout(), Some(Duration::from_secs(60)));
    // Settings that are built and changed again stay so.
    let again = settings.to_builder().build().unwrap();
    assert_eq!(again.export_assets_operation(), settings.export_assets_operation());
}

/// A total timeout that is shorter than the first call's own bounds that call too.
#[tokio::test(start_paused = true)]
async fn the_polling_time_counts_from_the_first_call_on() {
    let server = server((ms(900), replies(&running()).1), [replies(&running())]);
    let client = client_with(&server, |settings| {
        let polling = RetrySettings::builder().initial_retry_delay(ms(50)).retry_delay_multiplier(1.0);
        let polling = polling.total_timeout(ms(1000)).build().unwrap();
        settings.export_assets_operation().set_polling_settings(polling);
    });
    client.export_assets_operation(request()).await.unwrap_err();
    assert_eq!(seen(&server)[0], (START.to_owned(), 0));
    assert_eq!(server.arrivals()[0].timeout(), Some(1000));
    assert_eq!(polls(&server), [950]);
    assert_eq!(server.arrivals()[1].timeout(), Some(50));
}

#[tokio::test(start_paused = true)]
async fn options_and_metadata_of_the_call_are_those_of_polls_too() {
    let server = server(replies(&running()), [replies(&exported())]);
    let mut request = tonic::Request::new(request())
        .with_call_options(CallOptions::new().attempt_timeout(Duration::from_secs(3)));
    for (name, value) in [("authorization", "token"), ("x-goog-request-params", "parent=projects/1")] {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    client_with(&server, |_| ()).export_assets_operation(request).await.unwrap();
    let [start, poll] = &server.arrivals()[..] else { panic!() };
    assert_eq!((start.timeout(), poll.timeout()), (Some(3000), Some(3000)));
    assert_eq!((start.header("authorization"), poll.header("authorization")), (Some("token"), Some("token")));
    assert_eq!(start.header("x-goog-request-params"), Some("parent=projects/1"));
    // Polls are routed by the operation.
    assert_eq!(poll.header("x-goog-request-params"), Some("name=operations%2F7"));
}

#[tokio::test(start_paused = true)]
async fn an_rpc_timeout_of_the_polling_is_that_of_a_poll_with_its_retries() {
    let server = server(replies(&running()), [(ms(0), tonic_gax_tests::Reply::Hang)]);
    let client = client_with(&server, |settings| {
        let polling = RetrySettings::builder().initial_retry_delay(ms(1000)).initial_rpc_timeout(ms(2000));
        let polling = polling.total_timeout(ms(60_000)).build().unwrap();
        settings.export_assets_operation().set_polling_settings(polling);
    });
    let error = client.export_assets_operation(request()).await.unwrap_err();
    let end = error.end();
    assert_eq!((end.code(), end.report().elapsed()), (Some(Code::DeadlineExceeded), ms(3020)));
    assert_eq!(server.arrivals()[0].timeout(), Some(60_000));
}
