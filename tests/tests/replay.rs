//! Which requests are sent again, and what of.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_retry::{Code, RetrySettings, StopReason};
use prost::Message as _;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Request;
use tonic_gax::{CallOptions, Note, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as StockTalk;
use tonic_gax_tests::{
    Answer, Script, Setup, Stack, Tap, VirtualServer, error_report, ms, report_of, reported,
};
use tower_layer::Layer as _;

const MIB: usize = 1024 * 1024;
const PREFIX: usize = 5;

fn settings() -> RetrySettings {
    RetrySettings::builder()
        .jittered(false)
        .initial_retry_delay(ms(200))
        .initial_rpc_timeout(ms(1000))
        .total_timeout(ms(10_000))
        .build()
        .unwrap()
}

/// A request that takes that many bytes on the wire.
fn sized(bytes: usize) -> ListAssetsRequest {
    let request = |letters| ListAssetsRequest { parent: "x".repeat(letters), ..ListAssetsRequest::default() };
    let overhead = request(bytes).encoded_len() - bytes;
    let request = request(bytes - overhead - PREFIX);
    assert_eq!(request.encoded_len() + PREFIX, bytes);
    request
}

fn encoded(request: &ListAssetsRequest) -> Bytes {
    let length = u32::try_from(request.encoded_len()).unwrap().to_be_bytes();
    [&[0], length.as_slice(), &request.encode_to_vec()].concat().into()
}

fn two_failures() -> Script {
    Script::at_once([Answer::unavailable(), Answer::unavailable()])
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
        for (bytes, limit) in [(MIB + 1, None), (101, Some(100))] {
            let server = VirtualServer::start(two_failures());
            let setup = Setup::new(settings());
            let setup = limit.map_or(setup.clone(), |limit| setup.replaying(limit));
            let mut caller = stack.caller(server.channel(), &setup);
            let status = caller.list(sized(bytes)).await.unwrap_err();
            let report = error_report(&status);
            assert_eq!(status.code(), tonic::Code::Unavailable, "{stack:?}");
            assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable), "{stack:?}");
            assert_eq!(report.notes(), [Note::RequestTooLargeToReplay], "{stack:?}");
            assert_eq!(report.attempts().len(), 1, "{stack:?}");
            assert_eq!(server.seen(), [(0, Some(1000))], "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_above_the_limit_still_succeeds() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Answer::Serve));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()));
        let result = caller.list(reported(sized(3 * MIB))).await;
        assert_eq!(report_of(&result).notes(), [Note::RequestTooLargeToReplay], "{stack:?}");
        assert_eq!(server.log().arrivals()[0].body.len(), 3 * MIB, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_at_the_limit_is_sent_again() {
    for stack in Stack::ALL {
        for (bytes, limit) in [(MIB, None), (100, Some(100)), (3 * MIB, Some(0))] {
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
    let answer = (ms(0), Answer::Pass);
    for layer in [Setup::new(settings()).layer(), Setup::new(settings()).layer_with_descriptors()] {
        let server = VirtualServer::start(Script::of([answer.clone(), (ms(0), Answer::unavailable())]));
        let mut client = StockTalk::new(layer.layer(server.channel()));
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
                .starts_with(&[Note::RequestIsAStream, Note::Committed])
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
        assert_eq!(report.notes(), [Note::RequestIsAStream]);
        assert_eq!(
            report.attempts().iter().map(gax_retry::Attempt::code).collect::<Vec<_>>(),
            [Code::Unavailable]
        );
        assert_eq!(server.seen().len(), 2);
    }
}

/// A body that is there at once, but in several frames, is more than a unary request.
#[tokio::test(start_paused = true)]
async fn a_request_of_several_frames_is_a_stream_unless_the_kind_is_known() {
    let server = VirtualServer::start(Script::always(Answer::unavailable()));
    let mut client = StockTalk::new(Setup::new(settings()).layer().layer(server.channel()));
    let line = Line { text: "x".repeat(1000), count: 0 };
    let status = client.tell(tokio_stream::iter(vec![line; 100])).await.unwrap_err();
    let report = error_report(&status);
    assert_eq!(report.notes(), [Note::RequestIsAStream]);
    assert_eq!(report.stop_reason(), Some(StopReason::NotReplayable));
    assert_eq!(server.seen().len(), 1);
}
