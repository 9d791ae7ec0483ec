//! The ends of operations, each as its own error.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::replies::{
    GET, NAME, START, any, client, client_with, done, exported, exporting, fails, polls, replies, request,
    running, seen, server, with_error, with_response,
};
use gax_client::longrunning::{
    self, Any, LongRunningEnd, LongRunningError, Operation, PollingSettings, operation,
};
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use gax_retry::{Code, RetrySettings, StopReason};
use std::sync::atomic::{AtomicU32, Ordering};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, ExportAssetsRequest, ExportAssetsResponse,
};
use tonic_gax_tests::{Reply, VirtualServer, ms};

/// Runs an export to its end, which is an error.
async fn failed(server: &VirtualServer) -> LongRunningError {
    client(server).export_assets_operation(request()).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn an_operation_is_polled_until_it_is_done() {
    let server =
        server(replies(&running()), [replies(&running()), replies(&running()), replies(&exported())]);
    let mut export = client(&server).export_assets_operation(request());
    assert_eq!((&mut export).await.unwrap(), ExportAssetsResponse::default());
    let expected = [(START, 0), (GET, 5020), (GET, 12_540), (GET, 23_810)];
    assert_eq!(seen(&server), expected.map(|(method, at)| (method.to_owned(), at)));
    let report = export.report().unwrap();
    let rows: Vec<_> = report
        .attempts()
        .iter()
        .map(|attempt| (attempt.delay().as_millis(), attempt.end().as_millis(), attempt.code()))
        .collect();
    let expected =
        [(0, 20, Code::Ok), (5000, 5040, Code::Ok), (7500, 12_560, Code::Ok), (11_250, 23_830, Code::Ok)];
    assert_eq!(rows, expected);
    assert_eq!(report.method(), "/google.cloud.asset.v1.AssetService/ExportAssets");
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_is_done_at_once_is_not_polled() {
    let server = server(replies(&exported()), [fails(tonic::Code::Internal)]);
    let response = client(&server).export_assets_operation(request()).await.unwrap();
    assert_eq!((response, polls(&server)), (ExportAssetsResponse::default(), vec![]));
}

/// The call and its polls are calls like others.
#[tokio::test(start_paused = true)]
async fn a_poll_whose_credentials_are_refused_is_made_again_with_others() {
    let refused = || fails(tonic::Code::Unauthenticated);
    let server = server(replies(&running()), [refused(), replies(&running()), refused()]);
    let fetches = AtomicU32::new(0);
    let credentials = Credentials::new(move || {
        let number = 1 + fetches.fetch_add(1, Ordering::Relaxed);
        async move { Ok(AuthHeaders::bearer(&format!("token-{number}")).unwrap()) }
    });
    let channel = CredentialsService::new(server.channel(), credentials);
    let export = AssetServiceClient::new(channel).export_assets_operation(request());
    assert_eq!(export.await.unwrap_err().end().code(), Some(Code::Unauthenticated));
    let arrivals = server.arrivals();
    let tokens: Vec<_> = arrivals.iter().filter_map(|arrival| arrival.header("authorization")).collect();
    // The second poll that is refused comes within ten seconds of the first, and ends.
    assert_eq!(tokens, [1, 1, 2, 2].map(|number| format!("Bearer token-{number}")));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_polling_time_is_no_error_of_the_server_s() {
    let server = server(replies(&running()), [replies(&exporting("half", running()))]);
    let error = failed(&server).await;
    let LongRunningError::PollingTimedOut(end) = &error else { panic!("{error}") };
    assert_eq!((end.name(), end.limit(), end.code()), (NAME, Some(StopReason::TotalTimeout), None));
    assert!(end.status().is_none());
    let metadata: ExportAssetsRequest = end.metadata_as("google.cloud.asset.v1.ExportAssetsRequest").unwrap();
    assert_eq!((&*metadata.parent, end.metadata()), ("half", Some(metadata.clone())));
    // As gax-java's defaults have it, with polls of 20 ms.
    let last = *polls(&server).last().unwrap();
    assert_eq!((polls(&server).len(), last), (10, 284_107));
    assert_eq!(
        error.to_string(),
        "operations/7 is not done after 4 min 44 s, and no poll follows (TOTAL_TIMEOUT); it continues on the server, and \
         can be resumed by its name"
    );
    assert!(seen(&server).iter().all(|(method, _)| method != "CancelOperation"), "the server was notified");
}

#[tokio::test(start_paused = true)]
async fn the_number_of_polls_is_a_limit_too() {
    let server = server(replies(&running()), [replies(&running())]);
    let client = client_with(&server, |settings| {
        let polling = RetrySettings::builder().initial_retry_delay(ms(1000)).max_attempts(3);
        settings.export_assets_operation().set_polling_settings(polling.build().unwrap());
    });
    for resumed in [false, true] {
        let before = polls(&server).len();
        let export = if resumed {
            client.resume_export_assets_operation(NAME)
        } else {
            client.export_assets_operation(request())
        };
        let error = export.await.unwrap_err();
        assert!(matches!(error, LongRunningError::PollingTimedOut(_)), "{error}");
        assert_eq!((polls(&server).len() - before, error.end().limit()), (3, Some(StopReason::MaxAttempts)));
    }
}

/// A poll that hangs is given up when the polling time is over: the caller hears of that, not of a `DEADLINE_EXCEEDED`.
#[tokio::test(start_paused = true)]
async fn a_poll_that_hangs_ends_with_the_polling_time() {
    let server = server(replies(&running()), [(ms(0), Reply::Hang)]);
    let error = failed(&server).await;
    let LongRunningError::PollingTimedOut(end) = &error else { panic!("{error}") };
    assert_eq!((end.limit(), end.status().is_none()), (Some(StopReason::TotalTimeout), true));
    assert_eq!(end.report().elapsed(), ms(300_000));
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_failed_has_its_code_message_and_details() {
    let details = vec![any("test.Detail", &7_i64)];
    let error = with_error(tonic::Code::FailedPrecondition, "the bucket is gone", details.clone());
    let server = server(replies(&running()), [replies(&error)]);
    let error = failed(&server).await;
    let LongRunningError::Failed(end) = &error else { panic!("{error}") };
    assert_eq!((end.code(), end.details()), (Some(Code::FailedPrecondition), &details[..]));
    assert_eq!(end.report().stop_reason(), Some(StopReason::NonRetryable));
    assert_eq!(error.to_string(), "operations/7 failed: FAILED_PRECONDITION: the bucket is gone");
    assert_eq!(polls(&server).len(), 1);
}

/// Its code may be one that calls are retried for.
#[tokio::test(start_paused = true)]
async fn an_operation_that_failed_is_not_retried_whatever_its_code() {
    for code in [tonic::Code::Unavailable, tonic::Code::DeadlineExceeded, tonic::Code::Ok] {
        let server = server(replies(&running()), [replies(&with_error(code, "", vec![]))]);
        let error = failed(&server).await;
        assert!(matches!(error, LongRunningError::Failed(_)), "{error}");
        assert_eq!(seen(&server).len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn done_with_nothing_is_an_error_of_its_own() {
    let server = server(replies(&running()), [replies(&exporting("all", done(None)))]);
    let error = failed(&server).await;
    let LongRunningError::NoResult(end) = &error else { panic!("{error}") };
    assert!(end.operation().unwrap().done);
    let metadata: ExportAssetsRequest = end.metadata_as("google.cloud.asset.v1.ExportAssetsRequest").unwrap();
    assert_eq!(metadata.parent, "all");
}

#[tokio::test(start_paused = true)]
async fn a_response_of_another_type_is_an_error_and_the_metadata_is_readable() {
    let other = exporting("all", with_response(any("google.cloud.asset.v1.Asset", &request())));
    let server = server(replies(&running()), [replies(&other)]);
    let mut export = client(&server).export_assets_operation(request());
    let error = (&mut export).await.unwrap_err();
    assert!(matches!(error, LongRunningError::UnexpectedResponse(_)), "{error}");
    assert_eq!(
        error.to_string(),
        "operations/7 is done, and its response can't be read: it is of type \"google.cloud.asset.v1.Asset\", not \
         google.cloud.asset.v1.ExportAssetsResponse"
    );
    assert_eq!(export.metadata().unwrap().parent, "all");
}

#[tokio::test(start_paused = true)]
async fn metadata_of_another_type_is_missing_and_the_result_stands() {
    let metadata = Some(any("google.cloud.asset.v1.Asset", &request()));
    for metadata in [metadata, None] {
        let server = server(replies(&running()), [replies(&Operation { metadata, ..exported() })]);
        let mut export = client(&server).export_assets_operation(request());
        assert_eq!((&mut export).await.unwrap(), ExportAssetsResponse::default());
        assert_eq!(export.metadata(), None);
    }
}

/// The result of a handle that is over can be had again with its type, and is never waited for in vain.
#[tokio::test(start_paused = true)]
async fn a_result_is_given_out_once_and_once_more_by_its_type() {
    let ended = done(Some(operation::Result::Response(Any::from_msg(&41_i64).unwrap())));
    for awaited in [false, true] {
        let settings = PollingSettings::new();
        let reply = ended.clone();
        let mut handle = longrunning::poll(NAME, settings, move |_| std::future::ready(Ok(reply.clone())));
        if awaited {
            assert_eq!((&mut handle).await.unwrap(), Any::from_msg(&41_i64).unwrap());
            let error = (&mut handle).await.unwrap_err();
            assert!(matches!(&error, LongRunningError::ResultTaken(end) if end.name() == NAME), "{error}");
            let text = "the result of operations/7 was returned before: await its handle only once";
            assert_eq!(error.to_string(), text);
        } else {
            while handle.progress().next().await.is_some() {}
        }
        assert!(handle.is_done());
        let mut typed = handle.typed::<i64, ()>();
        assert_eq!((&mut typed).await.unwrap(), 41);
        assert!(matches!((&mut typed).await, Err(LongRunningError::ResultTaken(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_call_that_fails_has_started_nothing() {
    let server = server(fails(tonic::Code::PermissionDenied), [fails(tonic::Code::Internal)]);
    let error = failed(&server).await;
    let LongRunningError::NotStarted(end) = &error else { panic!("{error}") };
    assert_eq!((end.name(), end.code()), ("", Some(Code::PermissionDenied)));
    let report = tonic_gax::OperationError::of(end.status().unwrap()).unwrap().report();
    assert_eq!(report.method(), "/google.cloud.asset.v1.AssetService/ExportAssets");
    assert!(polls(&server).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_operation_without_a_name_can_t_be_polled() {
    let server = server(replies(&Operation::default()), [replies(&exported())]);
    let error = failed(&server).await;
    assert!(matches!(error, LongRunningError::NotStarted(_)), "{error}");
    assert!(error.to_string().contains("without a name"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_fails_for_good_ends_the_polling_and_says_the_name() {
    let server = server(replies(&running()), [replies(&running()), fails(tonic::Code::PermissionDenied)]);
    let error = failed(&server).await;
    let LongRunningError::PollFailed(end) = &error else { panic!("{error}") };
    assert_eq!((end.name(), end.code()), (NAME, Some(Code::PermissionDenied)));
    assert_eq!(polls(&server).len(), 2);
}

/// UNAVAILABLE is none of the ends: each poll is an operation with its own retries.
#[tokio::test(start_paused = true)]
async fn polls_are_retried() {
    let refused = fails(tonic::Code::Unavailable);
    let polled = [refused.clone(), refused, replies(&running()), replies(&exported())];
    let server = server(replies(&running()), polled);
    client(&server).export_assets_operation(request()).await.unwrap();
    // Two retries, after 100 and 130 ms; then the next delay of the polling, as if nothing had been.
    assert_eq!(polls(&server), [5020, 5140, 5290, 12_810]);
}

#[tokio::test(start_paused = true)]
async fn the_retries_of_a_poll_end_with_the_polling_time() {
    let server = server(replies(&running()), [fails(tonic::Code::Unavailable)]);
    let error = failed(&server).await;
    let LongRunningError::PollingTimedOut(end) = &error else { panic!("{error}") };
    assert!(end.report().elapsed() <= ms(300_000), "{}", end.report());
    assert!(*polls(&server).last().unwrap() > 240_000);
}

#[tokio::test(start_paused = true)]
async fn errors_are_one_line_and_can_be_kept() {
    fn kept<T: std::error::Error + Send + Sync + Clone + 'static>(_: &T) {}
    let server = server(fails(tonic::Code::PermissionDenied), [fails(tonic::Code::Internal)]);
    let error = failed(&server).await;
    kept(&error);
    assert_eq!(format!("{error:?}").lines().count(), 1);
    let _: &LongRunningEnd = error.end();
}
