//! Which requests are sent again, and what of.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_driver::observe::{OperationInfo, OperationObserver};
use gax_retry::{Code, StartedAttempt, StopReason};
use http_body::Frame;
use http_body_util::StreamBody;
use prost::Message as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::{Request, Status};
use tonic_gax::{CallOptions, Note, OperationOptions, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicAssetClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::{
    Reply, Script, Setup, Stack, Tap, VirtualServer, error_report, ms, report_of, reported, settings,
};
use tower_service::Service as _;

const MIB: usize = 1024 * 1024;
/// The longest request that is sent again, unless it is set.
const LIMIT: usize = 4 * MIB + 64 * 1024;
const PREFIX: usize = 5;

/// A request that takes that many bytes on the wire.
fn sized(bytes: usize) -> ListAssetsRequest {
    let request = |letters| ListAssetsRequest { parent: "x".repeat(letters), ..ListAssetsRequest::default() };
    let overhead = request(bytes).encoded_len() - bytes;
    let request =
        if bytes == PREFIX { ListAssetsRequest::default() } else { request(bytes - overhead - PREFIX) };
    assert_eq!(request.encoded_len() + PREFIX, bytes);
    request
}

fn encoded(request: &ListAssetsRequest) -> Bytes {
    let length = u32::try_from(request.encoded_len()).unwrap().to_be_bytes();
    [&[0], length.as_slice(), &request.encode_to_vec()].concat().into()
}

fn two_failures() -> Script {
    Script::at_once([Reply::unavailable(), Reply::unavailable()])
}

#[tokio::test(start_paused = true)]
async fn every_attempt_sends_the_same_bytes() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(two_failures());
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()));
        let request = ListAssetsRequest { parent: "projects/1".to_owned(), ..ListAssetsRequest::default() };
        caller.list(request.clone()).await.unwrap();
        let bodies: Vec<_> = server.log().arrivals().into_iter().map(|arrival| arrival.body).collect();
        assert_eq!(bodies, vec![encoded(&request); 3], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_encoded_once() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(two_failures());
        let tap = Tap::new(server.channel());
        let mut caller = stack.caller(tap.clone(), &Setup::new(settings()));
        let request = sized(100_000);
        caller.list(request.clone()).await.unwrap();
        let sent = tap.sent();
        assert_eq!(sent.len(), 3, "{stack:?}");
        for attempt in &sent {
            assert_eq!(attempt.body, encoded(&request), "{stack:?}");
            // Not another buffer of the same content, but the very same.
            assert_eq!(attempt.body.as_ptr(), sent[0].body.as_ptr(), "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_above_the_limit_is_sent_once_and_the_report_says_so() {
    for stack in Stack::ALL {
        for (bytes, limit) in [(LIMIT + 1, None), (101, Some(100)), (5, Some(0)), (100, Some(0))] {
            let server = VirtualServer::start(two_failures());
            let setup = Setup::new(settings());
            let setup = limit.map_or(setup.clone(), |limit| setup.replaying(limit));
            let mut caller = stack.caller(server.channel(), &setup);
            let status = caller.list(sized(bytes)).await.unwrap_err();
            let report = error_report(&status);
            assert_eq!(status.code(), tonic::Code::Unavailable, "{stack:?}");
            assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{stack:?}");
            assert_eq!(report.notes(), [Note::REQUEST_TOO_LARGE_TO_REPLAY], "{stack:?}");
            assert_eq!(report.attempts().len(), 1, "{stack:?}");
            assert_eq!(server.seen(), [(0, Some(1000))], "{stack:?}");
        }
    }
}

/// How often observers were notified that an operation is committed before its end is known.
#[derive(Default)]
struct Commits(AtomicUsize);

impl OperationObserver for Commits {
    fn committed(&self, _: &OperationInfo, _: StartedAttempt) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_above_the_limit_commits_to_no_attempt() {
    let server = VirtualServer::start(two_failures());
    let commits = Arc::new(Commits::default());
    let layer = Setup::new(settings()).layer().options(OperationOptions::new().observer(commits.clone()));
    let mut client = TonicAssetClient::new(layer.layer(server.channel()));
    let status = client.list_assets(sized(LIMIT + 1)).await.unwrap_err();
    assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NotReplayable));
    assert_eq!(commits.0.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_above_the_limit_still_succeeds() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()));
        let result = caller.list(reported(sized(5 * MIB))).await;
        assert_eq!(report_of(&result).notes(), [Note::REQUEST_TOO_LARGE_TO_REPLAY], "{stack:?}");
        assert_eq!(server.log().arrivals()[0].body.len(), 5 * MIB, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_at_the_limit_is_sent_again() {
    for stack in Stack::ALL {
        for (bytes, limit) in [(LIMIT, None), (100, Some(100)), (5 * MIB, Some(usize::MAX))] {
            let server = VirtualServer::start(two_failures());
            let setup = Setup::new(settings());
            let setup = limit.map_or(setup.clone(), |limit| setup.replaying(limit));
            let mut caller = stack.caller(server.channel(), &setup);
            let report = report_of(&caller.list(sized(bytes)).await);
            assert_eq!(report.attempts().len(), 3, "{stack:?}");
            assert_eq!(report.notes(), [], "{stack:?}");
        }
    }
}

/// Nobody knows that `Tell` takes a stream; that its body has to be waited for says so.
#[tokio::test(start_paused = true)]
async fn a_request_that_pends_is_passed_on() {
    let reply = (ms(0), Reply::Pass);
    for layer in [Setup::new(settings()).layer(), Setup::new(settings()).layer_with_descriptors()] {
        let server = VirtualServer::start(Script::of([reply.clone(), (ms(0), Reply::unavailable())]));
        let mut client = TonicTalkClient::new(layer.layer(server.channel()));
        let (sender, lines) = tokio::sync::mpsc::channel(1);
        let telling = tokio::spawn(async move {
            for number in 0..300 {
                sender.send(Line { text: format!("line {number}"), count: 0 }).await.unwrap();
                tokio::time::sleep(ms(1)).await;
            }
        });
        let request = Request::new(ReceiverStream::new(lines));
        let response = client.tell(request.with_call_options(CallOptions::new().report(true))).await.unwrap();
        telling.await.unwrap();
        assert!(
            response
                .extensions()
                .get::<tonic_gax::OperationReport>()
                .unwrap()
                .notes()
                .starts_with(&[Note::REQUEST_IS_A_STREAM, Note::COMMITTED])
        );
        assert_eq!(response.into_inner(), Line { text: "line 299".to_owned(), count: 300 });

        let (sender, lines) = tokio::sync::mpsc::channel::<Line>(1);
        let lines = ReceiverStream::new(lines).chain(tokio_stream::once(Line::default()));
        drop(tokio::spawn(async move {
            tokio::time::sleep(ms(5)).await;
            drop(sender);
        }));
        let status = client.tell(lines).await.unwrap_err();
        let report = error_report(&status);
        assert_eq!(status.code(), tonic::Code::Unavailable);
        assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable));
        assert_eq!(report.notes(), [Note::REQUEST_IS_A_STREAM]);
        assert_eq!(
            report.attempts().iter().map(gax_retry::Attempt::code).collect::<Vec<_>>(),
            [Code::Unavailable]
        );
        assert_eq!(server.seen().len(), 2);
    }
}

/// How often a layer without descriptors sends a request to a server that fails at first, and its notes.
async fn sent(body: Body) -> (usize, Vec<Note>) {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let settings = settings().to_builder().max_attempts(3).build().unwrap();
    let mut service = Setup::new(settings).layer().layer(server.channel());
    let request = http::Request::post("/test.talk.v1.Talk/Ask")
        .version(http::Version::HTTP_2)
        .header("te", "trailers")
        .header("content-type", "application/grpc")
        .body(body)
        .unwrap();
    let status = service.call(request).await.unwrap_err();
    let bodies: Vec<_> = server.log().arrivals().into_iter().map(|arrival| arrival.body).collect();
    assert!(bodies.iter().all(|body| Some(body) == bodies.first()), "{bodies:?}");
    (bodies.len(), error_report(&status).notes().to_vec())
}

fn frames(frames: &[&'static [u8]]) -> Body {
    let frames: Vec<_> =
        frames.iter().map(|frame| Ok::<_, Status>(Frame::data(Bytes::from_static(frame)))).collect();
    Body::new(StreamBody::new(tokio_stream::iter(frames)))
}

#[tokio::test(start_paused = true)]
async fn exactly_one_message_that_is_there_at_once_is_sent_again() {
    for one in [
        frames(&[b"\0\0\0\0\x03abc"]),
        frames(&[b"\0\0\0\0\0"]),
        frames(&[b"\0\0", b"", b"\0\0\x03a", b"bc"]),
        frames(&[b"\0\0\0\0\x03abc", b""]),
    ] {
        assert_eq!(sent(one).await, (3, vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn anything_else_is_a_stream_of_requests_unless_the_kind_is_known() {
    for other in [
        frames(&[]),
        frames(&[b""]),
        frames(&[b"\0\0\0"]),
        frames(&[b"\0\0\0\0\x03ab"]),
        frames(&[b"\0\0\0\0\x01a\0\0\0\0\x01b"]),
        frames(&[b"\0\0\0\0\x01a", b"\0\0\0\0\x01b"]),
        frames(&[b"\0\0\0\0\x01a\0"]),
        frames(&[b"\0\0\0\0\0\0\0\0\0\0"]),
    ] {
        assert_eq!(sent(other).await, (1, vec![Note::REQUEST_IS_A_STREAM]));
    }
}

/// Short messages of a stream come in one frame.
#[tokio::test(start_paused = true)]
async fn a_stream_of_requests_is_sent_once_however_it_is_packed() {
    let setup = Setup::new(settings());
    for count in [0, 2, 3, 100] {
        for length in [1, 1000] {
            for layer in [setup.layer(), setup.layer_with_descriptors()] {
                let server = VirtualServer::start(Script::always(Reply::unavailable()));
                let mut client = TonicTalkClient::new(layer.layer(server.channel()));
                let line = Line { text: "x".repeat(length), count: 0 };
                let status = client.tell(tokio_stream::iter(vec![line; count])).await.unwrap_err();
                let report = error_report(&status);
                assert_eq!(report.notes(), [Note::REQUEST_IS_A_STREAM], "{count} of {length}");
                assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{count} of {length}");
                assert_eq!(server.seen().len(), 1, "{count} of {length}");
            }
        }
    }
}

/// A stream of one request looks like a unary call. Descriptors are the cure.
#[tokio::test(start_paused = true)]
async fn a_stream_of_one_request_is_known_by_descriptors_alone() {
    let setup = Setup::new(settings());
    for (layer, times) in [(setup.layer(), 3), (setup.layer_with_descriptors(), 1)] {
        let server = VirtualServer::start(two_failures());
        let mut client = TonicTalkClient::new(layer.layer(server.channel()));
        drop(client.tell(tokio_stream::once(Line::default())).await);
        assert_eq!(server.seen().len(), times);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_requests_of_any_length_are_sent_again() {
    let server = VirtualServer::start(two_failures());
    let setup = Setup::new(settings()).replaying(usize::MAX);
    let client = AssetServiceClient::with_settings(server.channel(), setup.client());
    // It is more than the handler takes at last.
    client.list_assets(sized(LIMIT + 1)).await.unwrap_err();
    assert_eq!(server.seen().len(), 3);
    for layer in [setup.layer(), setup.layer_with_descriptors()] {
        let server = VirtualServer::start(two_failures());
        let mut client = TonicAssetClient::new(layer.layer(server.channel()));
        client.list_assets(sized(LIMIT + 1)).await.unwrap_err();
        assert_eq!(server.seen().len(), 3);
    }
}
