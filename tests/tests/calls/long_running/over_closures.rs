//! Polling over any client.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::replies::{NAME, exported, exporting, running, with_error};
use gax_client::CallSettings;
use gax_client::longrunning::{self, LongRunning, LongRunningError, Operation, PollingSettings};
use gax_retry::{Code, CodeSet, RetrySettings, StopReason};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::Status;
use tonic_gax::{Compatibility, OperationError, OperationOptions};
use tonic_gax_tests::generated::google::cloud::asset::v1::{ExportAssetsRequest, ExportAssetsResponse};
use tonic_gax_tests::{Recorder, VirtualClock, ms};

type Reply = Result<Operation, Status>;

/// Polls that end so, one after another, each after 20 ms; the times of all of them.
fn polled(settings: PollingSettings, replies: Vec<Reply>) -> (LongRunning, Arc<Mutex<Vec<u128>>>) {
    let (clock, times) = (VirtualClock::start(), Arc::new(Mutex::new(Vec::new())));
    let (seen, mut replies) = (Arc::clone(&times), replies.into_iter().peekable());
    let settings = settings.options(OperationOptions::new().without_jitter());
    let handle = longrunning::poll(NAME, settings, move |name| {
        assert_eq!(name, NAME);
        seen.lock().unwrap().push(clock.elapsed().as_millis());
        let reply = replies.next_if(|_| true).unwrap_or_else(|| Ok(running()));
        async move {
            tokio::time::sleep(ms(20)).await;
            reply
        }
    });
    (handle, times)
}

fn typed(handle: LongRunning) -> LongRunning<ExportAssetsResponse, ExportAssetsRequest> {
    handle.typed_as("google.cloud.asset.v1.ExportAssetsResponse", "google.cloud.asset.v1.ExportAssetsRequest")
}

#[tokio::test(start_paused = true)]
async fn a_closure_is_polled_at_once_and_then_by_the_settings() {
    let (handle, times) = polled(PollingSettings::new(), vec![Ok(running()), Ok(running()), Ok(exported())]);
    let mut handle = typed(handle);
    assert_eq!((&mut handle).await.unwrap(), ExportAssetsResponse::default());
    assert_eq!(*times.lock().unwrap(), [0, 5020, 12_540]);
    assert_eq!(handle.report().unwrap().attempt_count(), 3);
    assert_eq!(handle.report().unwrap().method(), "long-running operation");
}

#[tokio::test(start_paused = true)]
async fn untyped_it_gives_the_message_as_it_is() {
    let (handle, _) = polled(PollingSettings::new(), vec![Ok(exporting("all", exported()))]);
    let response = handle.await.unwrap();
    assert_eq!(response.type_url, "type.googleapis.com/google.cloud.asset.v1.ExportAssetsResponse");
}

#[tokio::test(start_paused = true)]
async fn each_poll_is_retried_and_the_last_error_is_there_with_its_report() {
    let unavailable = || Err(Status::unavailable("not now"));
    let (handle, times) = polled(PollingSettings::new(), vec![Ok(running()), unavailable(), Ok(exported())]);
    typed(handle).await.unwrap();
    assert_eq!(*times.lock().unwrap(), [0, 5020, 5140]);
    let once = CallSettings::new(RetrySettings::no_retry(ms(1000)), CodeSet::EMPTY);
    let (handle, _) = polled(PollingSettings::new().each_poll(once).named("backup"), vec![unavailable()]);
    let error = handle.await.unwrap_err();
    let LongRunningError::PollFailed(end) = &error else { panic!("{error}") };
    assert_eq!(end.code(), Some(Code::Unavailable));
    assert_eq!(OperationError::of(end.status().unwrap()).unwrap().report().method(), "backup");
    assert_eq!(
        error.to_string(),
        "operations/7 can't be polled: UNAVAILABLE: not now (it may continue on the server; resume it by its name)"
    );
}

/// A closure has no deadline of its own: it is dropped.
#[tokio::test(start_paused = true)]
async fn a_poll_that_hangs_is_dropped_with_the_polling_time_or_after_its_own() {
    let polling = RetrySettings::builder().total_timeout(ms(10_000));
    let of = |polling: RetrySettings| {
        let settings = PollingSettings::from(polling);
        longrunning::poll(NAME, settings, |_| std::future::pending::<Reply>())
    };
    let error = of(polling.clone().build().unwrap()).await.unwrap_err();
    assert!(matches!(error, LongRunningError::PollingTimedOut(_)), "{error}");
    assert_eq!(error.end().report().elapsed(), ms(10_000));
    let error = of(polling.initial_rpc_timeout(ms(2000)).build().unwrap()).await.unwrap_err();
    assert!(matches!(error, LongRunningError::PollFailed(_)), "{error}");
    assert_eq!(
        (error.end().report().elapsed(), error.end().code()),
        (ms(2000), Some(Code::DeadlineExceeded))
    );
}

/// All but gax-java's have the same polls: it allows one more that lands on the total.
#[tokio::test(start_paused = true)]
async fn every_compatibility_polls() {
    let polling = RetrySettings::builder().initial_retry_delay(ms(980)).retry_delay_multiplier(1.0);
    let polling = polling.total_timeout(ms(5000)).build().unwrap();
    for (compatibility, count) in
        [(Compatibility::Documented, 5), (Compatibility::Grpc, 5), (Compatibility::GaxJava, 6)]
    {
        let options = OperationOptions::new().compatibility(compatibility);
        let settings = PollingSettings::from(&polling).options(options);
        let (handle, times) = polled(settings, vec![]);
        let error = handle.await.unwrap_err();
        assert_eq!(times.lock().unwrap().len(), count, "{compatibility}");
        assert_eq!(error.end().limit(), Some(StopReason::TotalTimeout), "{compatibility}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_any_limit_there_is_one_poll() {
    let (handle, times) = polled(PollingSettings::from(RetrySettings::default()), vec![]);
    let error = handle.await.unwrap_err();
    assert_eq!((error.end().limit(), times.lock().unwrap().len()), (Some(StopReason::NoLimits), 1));
}

#[tokio::test(start_paused = true)]
async fn the_server_is_notified_by_closures() {
    let notified = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let notified = Arc::clone(&notified);
        move |name: String| {
            notified.lock().unwrap().push(format!("{what} {name}"));
            async { Ok(()) }
        }
    };
    let settings = PollingSettings::new().with_cancel(note("cancel")).with_delete(note("delete"));
    let cancelled = || Ok(with_error(tonic::Code::Cancelled, "", vec![]));
    let (mut handle, _) = polled(settings.clone(), vec![Ok(running()), cancelled()]);
    handle.cancel().await.unwrap();
    handle.delete().await.unwrap();
    (&mut handle).await.unwrap_err();
    let brief = RetrySettings::builder().max_attempts(1).build().unwrap();
    let (handle, _) =
        polled(settings.polling(brief).cancel_on_timeout(true), vec![Ok(running()), cancelled()]);
    let error = handle.await.unwrap_err();
    assert!(matches!(error, LongRunningError::Failed(_)), "{error}");
    let cancel = "cancel operations/7";
    assert_eq!(*notified.lock().unwrap(), [cancel, "delete operations/7", cancel]);
    let (mut silent, _) = polled(PollingSettings::new(), vec![]);
    let error = silent.cancel().await.unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (tonic::Code::Unimplemented, "no call for this is configured: set PollingSettings::with_cancel")
    );
}

#[tokio::test(start_paused = true)]
async fn the_polling_and_each_poll_are_operations_of_their_own() {
    let recorder = Recorder::default();
    let options = OperationOptions::new().observer(recorder.shared());
    let settings = PollingSettings::new().options(options).named("backup");
    let (handle, _) = polled(settings, vec![Ok(running()), Ok(exported())]);
    typed(handle).await.unwrap();
    let started = "operation_started backup";
    let poll = [
        started,
        "attempt_started 1 Original",
        "attempt_succeeded 1 OK 0-20",
        "operation_succeeded OK 1 attempts 20 ms",
    ];
    let lines: Vec<String> = [
        &[started, "attempt_started 1 Original"][..],
        &poll,
        &["attempt_failed 1 OK at 20, then 5s", "attempt_started 2 Poll"],
        &poll,
        &["attempt_succeeded 2 OK 5020-5040", "operation_succeeded OK 2 attempts 5040 ms"],
    ]
    .concat()
    .into_iter()
    .map(str::to_owned)
    .collect();
    assert_eq!(recorder.take(), lines);
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_is_dropped_is_a_cancelled_operation_for_its_observers() {
    let recorder = Recorder::default();
    let settings = PollingSettings::new().options(OperationOptions::new().observer(recorder.shared()));
    let (mut handle, _) = polled(settings, vec![]);
    tokio::time::timeout(Duration::from_secs(1), &mut handle).await.unwrap_err();
    drop(handle);
    let lines = recorder.take();
    assert!(lines.last().unwrap().starts_with("operation_cancelled "), "{lines:?}");
}
