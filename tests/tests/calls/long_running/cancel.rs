//! Operations that are cancelled, deleted, or dropped.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::replies::{
    NAME, client, client_with, exported, exporting, fails, polls, replies, request, running, seen, server,
    with_error,
};
use gax_client::longrunning::LongRunningError;
use gax_retry::{Code, RetrySettings};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_gax::AssetServiceStubSettingsBuilder;
use tonic_gax_tests::{Reply, Script, VirtualClock, VirtualServer, ms};

fn notices(server: &VirtualServer) -> Vec<(String, u64)> {
    seen(server)
        .into_iter()
        .filter(|(method, _)| method == "CancelOperation" || method == "DeleteOperation")
        .collect()
}

#[tokio::test(start_paused = true)]
async fn cancel_asks_the_server() {
    let server = server(
        replies(&running()),
        [replies(&running()), replies(&with_error(tonic::Code::Cancelled, "", vec![]))],
    );
    let mut export = client(&server).export_assets_operation(request());
    assert_eq!(export.cancel().await.unwrap_err().code(), tonic::Code::FailedPrecondition);
    export.started().await.unwrap();
    tokio::time::timeout(ms(6000), &mut export).await.unwrap_err();
    export.cancel().await.unwrap();
    let error = (&mut export).await.unwrap_err();
    assert_eq!(error.end().code(), Some(Code::Cancelled));
    assert!(matches!(error, LongRunningError::Failed(_)));
    assert_eq!(notices(&server), [("CancelOperation".to_owned(), 6020)]);
    // Nothing is sent for what is done.
    export.cancel().await.unwrap();
    assert_eq!(notices(&server).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn delete_tells_the_server() {
    let server = server(replies(&exported()), [fails(tonic::Code::NotFound)]);
    let mut export = client(&server).export_assets_operation(request());
    (&mut export).await.unwrap();
    export.delete().await.unwrap();
    assert_eq!(notices(&server), [("DeleteOperation".to_owned(), 20)]);
}

#[tokio::test(start_paused = true)]
async fn whoever_drops_the_handle_tells_nobody() {
    let server = server(replies(&running()), [replies(&running())]);
    let mut export = client(&server).export_assets_operation(request());
    tokio::time::timeout(ms(30_000), &mut export).await.unwrap_err();
    drop(export);
    tokio::time::sleep(ms(600_000)).await;
    assert_eq!((polls(&server).len(), notices(&server).len(), server.log().open()), (3, 0, 0));
}

/// Polls once a second, for three seconds.
fn briefly(settings: &mut AssetServiceStubSettingsBuilder) {
    let polling = RetrySettings::builder().initial_retry_delay(ms(1000)).retry_delay_multiplier(1.0);
    let polling = polling.total_timeout(ms(3000)).build().unwrap();
    settings.export_assets_operation().set_polling_settings(polling).set_cancels_on_timeout(true);
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_is_cancelled_where_that_is_asked_for() {
    let cancelled = exporting("half", with_error(tonic::Code::Cancelled, "as you wish", vec![]));
    for (last, is_done) in [(cancelled, true), (exporting("half", running()), false)] {
        let polled = [replies(&running()), replies(&running()), replies(&last)];
        let server = server(replies(&running()), polled);
        let error = client_with(&server, briefly).export_assets_operation(request()).await.unwrap_err();
        assert_eq!(notices(&server), [("CancelOperation".to_owned(), 2060)]);
        assert_eq!(polls(&server), [1020, 2040, 2060]);
        assert_eq!(error.end().operation().unwrap().metadata, last.metadata);
        match error {
            LongRunningError::Failed(end) => assert_eq!((is_done, end.code()), (true, Some(Code::Cancelled))),
            LongRunningError::PollingTimedOut(end) => assert_eq!((is_done, end.name()), (false, NAME)),
            other => panic!("{other}"),
        }
    }
}

/// The server is gone: nobody waits for longer than a minute.
#[tokio::test(start_paused = true)]
async fn to_cancel_takes_a_minute_at_most() {
    let polled = [replies(&running()), replies(&running()), (ms(0), Reply::Hang)];
    let script = Script::new().on("ExportAssets", [replies(&running())]).on("GetOperation", polled);
    let server = VirtualServer::start(script.on("CancelOperation", [Reply::Hang]));
    let clock = VirtualClock::start();
    let error = client_with(&server, briefly).export_assets_operation(request()).await.unwrap_err();
    assert!(matches!(error, LongRunningError::PollingTimedOut(_)), "{error}");
    assert_eq!(clock.elapsed(), ms(62_060));
}

/// It may have been done just before.
#[tokio::test(start_paused = true)]
async fn what_is_done_after_all_has_its_response() {
    let server =
        server(replies(&running()), [replies(&running()), replies(&running()), replies(&exported())]);
    client_with(&server, briefly).export_assets_operation(request()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_can_t_be_asked_for_again_has_timed_out() {
    let polled = [replies(&running()), replies(&running()), fails(tonic::Code::NotFound)];
    let server = server(replies(&running()), polled);
    let error = client_with(&server, briefly).export_assets_operation(request()).await.unwrap_err();
    assert!(matches!(error, LongRunningError::PollingTimedOut(_)), "{error}");
}
