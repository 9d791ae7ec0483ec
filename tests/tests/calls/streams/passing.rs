//! Streams pass through unharmed, with a deadline; methods that no table knows pass through untouched.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, StopReason};
use gax_table::RetryTable;
use tokio_stream::StreamExt as _;
use tonic::{Request, Status};
use tonic_gax::{CallOptions, OperationError, RequestExt as _, RetryLayer};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicAssetClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{ExportAssetsRequest, ListAssetsRequest};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, talk_client};
use tonic_gax_tests::{
    BodyPart, Reply, Script, Setup, Stack, TalkCaller, VirtualServer, error_report, ms, row, rows, settings,
};

/// A client of Talk with the usual settings.
fn client(stack: Stack, server: &VirtualServer) -> TalkCaller {
    stack.talk(server.channel(), &Setup::new(settings()))
}

fn line(number: u32) -> Line {
    // Long enough that a few hundred of them fill every buffer on the way.
    Line { text: format!("{number} {}", "x".repeat(1000)), count: number }
}

async fn heard(mut lines: tonic::Streaming<Line>) -> Result<Vec<Line>, Status> {
    let mut all = Vec::new();
    while let Some(line) = lines.message().await? {
        all.push(line);
    }
    assert!(lines.trailers().await.unwrap().is_some());
    Ok(all)
}

#[tokio::test(start_paused = true)]
async fn many_messages_in_every_direction() {
    const COUNT: u32 = 1000;
    let server = VirtualServer::start(Script::always(Reply::Pass));
    for stack in Stack::ALL {
        let mut client = client(stack, &server);
        let lines =
            heard(client.listen(Line { text: "a".to_owned(), count: COUNT }).await.unwrap().into_inner())
                .await;
        let expected: Vec<_> = (0..COUNT).map(|n| Line { text: format!("a {n}"), count: n }).collect();
        assert_eq!(lines.unwrap(), expected, "{stack:?}");

        let last = client.tell(tokio_stream::iter((0..COUNT).map(line))).await.unwrap().into_inner();
        assert_eq!(last, Line { text: line(COUNT - 1).text, count: COUNT }, "{stack:?}");

        let lines =
            heard(client.chat(tokio_stream::iter((0..COUNT).map(line))).await.unwrap().into_inner()).await;
        assert_eq!(lines.unwrap(), (0..COUNT).map(line).collect::<Vec<_>>(), "{stack:?}");
    }
}

/// Question and reply in turn: nothing on the way may wait for the end of the stream.
#[tokio::test(start_paused = true)]
async fn a_conversation_goes_back_and_forth() {
    let server = VirtualServer::start(Script::always(Reply::Pass));
    for stack in Stack::ALL {
        let mut client = client(stack, &server);
        let (sender, lines) = tokio::sync::mpsc::channel(1);
        let lines = tokio_stream::wrappers::ReceiverStream::new(lines);
        let mut replies = client.chat(lines).await.unwrap().into_inner();
        for number in 0..100 {
            sender.send(line(number)).await.unwrap();
            assert_eq!(replies.message().await.unwrap().unwrap(), line(number), "{stack:?}");
        }
        drop(sender);
        assert_eq!(replies.message().await.unwrap(), None, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_has_the_total_timeout() {
    let first = BodyPart::message(&line(1));
    for stack in Stack::ALL {
        let stalled = Reply::play([BodyPart::Wait(ms(500)), first.clone(), BodyPart::Hang]);
        let server = VirtualServer::start(Script::always(stalled));
        let mut client = client(stack, &server);
        // Under tonic's own client without descriptors it is an attempt like any other.
        let timeout = if stack == Stack::Layer { 1000 } else { 10_000 };
        let mut lines = client.listen(Line::default()).await.unwrap().into_inner();
        assert_eq!(lines.message().await.unwrap().unwrap(), line(1), "{stack:?}");
        let status = lines.message().await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(timeout))], "{stack:?}");
        assert_eq!(server.log().elapsed(), ms(timeout), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_s_deadline_bounds_a_stream() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut client = client(stack, &server);
        let mut request = Request::new(Line::default());
        request.set_timeout(ms(300));
        let status = client.listen(request).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(300))], "{stack:?}");
        assert_eq!(server.log().elapsed(), ms(300), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_nothing_sends_no_stream() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut client = client(stack, &server);
        let mut request = Request::new(Line::default());
        request.set_timeout(ms(0));
        let status = client.listen(request).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert_eq!(error_report(&status).attempts(), [], "{stack:?}");
        assert_eq!(error_report(&status).stop_reason(), Some(StopReason::TotalTimeout), "{stack:?}");
        tokio::time::sleep(ms(10)).await;
        assert_eq!(server.seen(), [], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_inside_a_stream_arrives_as_it_was_sent() {
    let details = vec![1, 2, 3];
    let sent = Status::with_details(tonic::Code::Unavailable, "lost my place", details.clone().into());
    let reply = Reply::play([
        BodyPart::message(&line(1)),
        BodyPart::Wait(ms(100)),
        BodyPart::message(&line(2)),
        BodyPart::status(&sent),
    ]);
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(reply.clone()));
        let mut client = client(stack, &server);
        let mut lines = client.listen(Line::default()).await.unwrap().into_inner();
        assert_eq!(lines.message().await.unwrap().unwrap(), line(1), "{stack:?}");
        assert_eq!(lines.message().await.unwrap().unwrap(), line(2), "{stack:?}");
        let status = lines.message().await.unwrap_err();
        assert_eq!((status.code(), status.message()), (sent.code(), sent.message()), "{stack:?}");
        assert_eq!(status.details(), details, "{stack:?}");
        assert_eq!(server.seen().len(), 1, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_begins_ends_with_the_total() {
    for codes in [vec![Code::DeadlineExceeded], vec![]] {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let setup = Setup::new(settings()).retrying(codes);
        let mut client = TonicTalkClient::new(setup.layer_with_descriptors().layer(server.channel()));
        let status = client.listen(Line::default()).await.unwrap_err();
        let report = error_report(&status);
        assert_eq!(rows(&report), [row(1, 10_000, 0, 0, 10_000, Code::DeadlineExceeded)]);
        assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
        assert_eq!(server.seen(), [(0, Some(10_000))]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_table_knows_is_untouched() {
    let table = RetryTable::builder()
        .method("/google.cloud.asset.v1.AssetService/ListAssets", settings(), [Code::Unavailable])
        .build()
        .unwrap();
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let channel = RetryLayer::new(table).layer(server.channel());
    let mut assets = TonicAssetClient::new(channel.clone());
    let mut talk = talk_client::TalkClient::new(channel);

    let status = assets.export_assets(ExportAssetsRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unavailable);
    assert!(OperationError::of(&status).is_none());
    talk.ask(Line::default()).await.unwrap_err();
    talk.chat(tokio_stream::iter([line(1)]).map(|line| line)).await.unwrap_err();
    assert_eq!(server.seen(), [(0, None); 3]);

    // A deadline that the caller gives is the caller's.
    let mut request = Request::new(ExportAssetsRequest::default());
    request.set_timeout(ms(700));
    assets.export_assets(request).await.unwrap_err();
    assert_eq!(server.seen()[3], (0, Some(700)));

    // And what the table knows is retried as it says.
    assets.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    assert_eq!(server.seen()[4], (0, Some(1000)));
    assert!(server.seen().len() > 50);
}

/// gax-java's settings of such calls have no timeouts: a call's own are all that bounds it.
#[tokio::test(start_paused = true)]
async fn by_gax_java_s_rules_a_stream_of_requests_has_the_caller_s_deadline_alone() {
    let setup = Setup::new(settings()).compatible(Compatibility::GaxJava);
    let late = Reply::play([
        BodyPart::Wait(ms(60_000)),
        BodyPart::message(&line(1)),
        BodyPart::trailers(&[("grpc-status", "0")]),
    ]);
    for (options, timeout) in [
        (CallOptions::new(), None),
        (CallOptions::new().timeout(ms(90_000)), Some(90_000)),
        (CallOptions::new().attempt_timeout(ms(90_000)), Some(90_000)),
    ] {
        for stack in Stack::KNOWING {
            let server = VirtualServer::start(Script::always(late.clone()));
            let mut client = stack.talk(server.channel(), &setup);
            let reply = client.tell(requests(&options)).await;
            assert_eq!(reply.unwrap().into_inner(), line(1), "{options:?} {stack:?}");
            let lines = client.chat(requests(&options)).await;
            assert_eq!(heard(lines.unwrap().into_inner()).await.unwrap(), [line(1)], "{options:?} {stack:?}");
            let timeouts: Vec<_> = server.seen().iter().map(|(_, timeout)| *timeout).collect();
            assert_eq!(timeouts, [timeout, timeout], "{options:?} {stack:?}");
        }
    }
}

fn requests(options: &CallOptions) -> Request<tokio_stream::Iter<std::vec::IntoIter<Line>>> {
    Request::new(tokio_stream::iter(vec![line(0), line(1)])).with_call_options(options.clone())
}
