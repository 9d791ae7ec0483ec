//! Operations that are taken up by their names.

use super::replies::{
    GET, NAME, START, client, exported, fails, polls, replies, request, running, seen, server,
};
use gax_client::longrunning::LongRunningError;
use tonic_gax_tests::{Reply, Script, VirtualServer, ms};

/// The first poll takes the place of the first call.
#[tokio::test(start_paused = true)]
async fn an_operation_is_resumed_by_its_name() {
    let server = server(fails(tonic::Code::Internal), [replies(&running()), replies(&exported())]);
    let export = client(&server).resume_export_assets_operation(NAME);
    assert_eq!(export.name(), Some(NAME));
    export.await.unwrap();
    assert_eq!(seen(&server), [(GET.to_owned(), 0), (GET.to_owned(), 5020)]);
}

#[tokio::test(start_paused = true)]
async fn the_name_is_known_once_the_operation_has_started() {
    let server = server(replies(&running()), [replies(&exported())]);
    let mut export = client(&server).export_assets_operation(request());
    assert_eq!(export.name(), None);
    assert_eq!(export.started().await.unwrap(), NAME);
    assert_eq!(seen(&server), [(START.to_owned(), 0)]);
    assert_eq!(export.started().await.unwrap(), NAME);
    export.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_does_not_start_says_so_each_time() {
    let server = server(fails(tonic::Code::PermissionDenied), [fails(tonic::Code::Internal)]);
    let mut export = client(&server).export_assets_operation(request());
    for _ in 0..2 {
        assert!(matches!(export.started().await, Err(LongRunningError::NotStarted(_))));
    }
    assert!(matches!(export.await, Err(LongRunningError::NotStarted(_))));
}

/// One that was done at once may have no name to be taken up by.
#[tokio::test(start_paused = true)]
async fn an_operation_without_a_name_has_its_result_alone() {
    let mut nameless = exported();
    nameless.name.clear();
    let server = server(replies(&nameless), [fails(tonic::Code::Internal)]);
    let mut export = client(&server).export_assets_operation(request());
    for _ in 0..2 {
        assert!(matches!(export.started().await, Err(LongRunningError::NotStarted(_))));
    }
    export.await.unwrap();
}

/// The process that started it is gone, and of each three polls the server fails one.
#[tokio::test(start_paused = true)]
async fn another_process_finishes_what_one_has_started() {
    let polled = Script::new().on(START, [replies(&running())]).on(
        GET,
        (1..=12).map(|poll| match poll {
            12 => replies(&exported()),
            poll if poll % 3 == 0 => (ms(5), Reply::unavailable()),
            _ => replies(&running()),
        }),
    );
    let server = VirtualServer::start(polled);
    let first = client(&server);
    let mut export = first.export_assets_operation(request());
    let name = export.started().await.unwrap().to_owned();
    let process = tokio::spawn(export);
    tokio::time::sleep(ms(20_000)).await;
    process.abort();
    assert!(process.await.unwrap_err().is_cancelled());
    drop(first);
    let before = polls(&server).len();
    assert_eq!((name.as_str(), before), (NAME, 2));
    let mut resumed = client(&server).resume_export_assets_operation(name);
    (&mut resumed).await.unwrap();
    assert_eq!(polls(&server).len(), 12);
    // Ten requests more, three of which were retried.
    assert_eq!(resumed.report().unwrap().attempt_count(), 7);
}
