//! Polls that ask the server to wait.

use super::replies::{GET, START, client_with, exported, fails, replies, request, running, seen};
use gax_client::longrunning::WaitOperationRequest;
use prost::Message as _;
use tonic_gax_tests::{Reply, Script, VirtualServer, ms};

#[tokio::test(start_paused = true)]
async fn a_server_that_waits_is_asked_again_at_once_and_one_that_does_not_later() {
    let wait = "WaitOperation";
    let polled = [
        (ms(60_000), Reply::message(&running())),
        (ms(30_000), Reply::message(&running())),
        replies(&running()),
        replies(&running()),
        (ms(4000), Reply::message(&exported())),
    ];
    let script = Script::new().on(START, [replies(&running())]).on(wait, polled);
    let server = VirtualServer::start(script);
    let client = client_with(&server, |settings| {
        settings.export_assets_operation().set_server_waits(true);
    });
    client.export_assets_operation(request()).await.unwrap();
    let expected =
        [(START, 0), (wait, 5020), (wait, 65_020), (wait, 95_020), (wait, 102_540), (wait, 113_810)];
    assert_eq!(seen(&server), expected.map(|(method, at)| (method.to_owned(), at)));
    let body = server.arrivals()[1].body.clone();
    let asked = WaitOperationRequest::decode(body.slice(5..)).unwrap();
    assert_eq!(asked.timeout.unwrap().seconds, 60);
}

/// The total bounds polls that follow at once as well.
#[tokio::test(start_paused = true)]
async fn waiting_ends_with_the_polling_time() {
    let waits = std::iter::repeat_n((ms(60_000), Reply::message(&running())), 50);
    let server =
        VirtualServer::start(Script::new().on(START, [replies(&running())]).on("WaitOperation", waits));
    let client = client_with(&server, |settings| {
        settings.export_assets_operation().set_server_waits(true);
    });
    let error = client.export_assets_operation(request()).await.unwrap_err();
    assert_eq!((error.end().report().elapsed(), seen(&server).len()), (ms(300_000), 6));
}

/// A server, or a transport, without that call is polled: nothing is lost but the wait.
#[tokio::test(start_paused = true)]
async fn a_server_that_can_not_wait_is_polled() {
    let script = Script::new()
        .on(START, [replies(&running())])
        .on("WaitOperation", [fails(tonic::Code::Unimplemented)])
        .on(GET, [replies(&running()), replies(&exported())]);
    let server = VirtualServer::start(script);
    let client = client_with(&server, |settings| {
        settings.export_assets_operation().set_server_waits(true);
    });
    let mut export = client.export_assets_operation(request());
    (&mut export).await.unwrap();
    let expected = [(START, 0), ("WaitOperation", 5020), (GET, 5040), (GET, 12_560)];
    assert_eq!(seen(&server), expected.map(|(method, at)| (method.to_owned(), at)));
    assert_eq!(export.report().unwrap().attempts().len(), 3);
}
