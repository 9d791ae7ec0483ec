//! Responses that break the rules of HTTP/2 or gRPC: no other attempt is read better.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_retry::{Attempt, Code, CodeSet, StopReason};
use tonic_gax::{Note, OperationReport};
use tonic_gax_tests::generated::google::cloud::asset::v1::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::{
    BodyPart, RawFrame, RawServer, Reply, Script, Setup, Stack, VirtualServer, error_report, ms, report_of,
    reported, row, rows, settings,
};

const DOWN: Code = Code::Unavailable;

/// Whatever can be retried is.
fn setup() -> Setup {
    Setup::new(settings()).retrying([
        DOWN,
        Code::Internal,
        Code::Unknown,
        Code::ResourceExhausted,
        Code::Cancelled,
        Code::DeadlineExceeded,
    ])
}

/// The report of a call that is alone on its connection.
async fn alone(stack: Stack, play: &[RawFrame]) -> OperationReport {
    let server = RawServer::start([play.to_vec()]);
    let status = stack.list(server.channel(), &setup()).await.unwrap_err();
    let report = error_report(&status);
    assert_eq!(server.requests().len(), 1, "{stack:?} {play:?}");
    assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{stack:?} {play:?}: {status:?}");
    assert_eq!(report.notes(), [Note::UNREADABLE_RESPONSE], "{stack:?} {play:?}");
    report
}

#[tokio::test(start_paused = true)]
async fn a_response_that_costs_its_stream_is_final() {
    for stack in Stack::ALL {
        let report = alone(stack, &[RawFrame::LongHeaders]).await;
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Internal)], "{stack:?}");
        // Trailers of too many bytes, after a message.
        let report = alone(stack, &[RawFrame::Headers, RawFrame::LongHeaders]).await;
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Internal)], "{stack:?}");
    }
}

/// Nobody knows whose response it was.
#[tokio::test(start_paused = true)]
async fn a_response_that_costs_the_connection_is_retried_with_a_note() {
    for stack in Stack::ALL {
        for frame in [RawFrame::Garbage, RawFrame::ContinuationFlood] {
            for begun in [vec![], vec![RawFrame::Wait(ms(30))]] {
                let play = [begun, vec![frame]].concat();
                let server = RawServer::start([play.clone(), play.clone(), play.clone()]);
                let report = report_of(&stack.list(server.channel(), &setup().reporting()).await);
                let codes: Vec<_> = report.attempts().iter().map(Attempt::code).collect();
                assert_eq!(codes, [DOWN, DOWN, DOWN, Code::Ok], "{stack:?} {play:?}");
                for wait in waits(&report) {
                    assert!((200..=800).contains(&wait), "{stack:?} {play:?}: {wait}");
                }
                assert_eq!(report.notes(), [Note::CONNECTION_CLOSED_FOR_A_RESPONSE], "{stack:?} {play:?}");
                assert_eq!(server.requests(), [1, 2, 3, 4], "{stack:?} {play:?}");
            }
        }
    }
}

/// The milliseconds between an attempt and the one before it: the delay of 200, and up to three times as much.
fn waits(report: &OperationReport) -> Vec<u128> {
    let between = |pair: &[Attempt]| pair[1].start().saturating_sub(pair[0].end()).as_millis();
    report.attempts().windows(2).map(between).collect()
}

/// Nobody knows whose response it was.
#[tokio::test(start_paused = true)]
async fn calls_that_die_together_with_a_connection_that_we_closed_are_unavailable() {
    for stack in Stack::ALL {
        for last in [RawFrame::Garbage, RawFrame::ContinuationFlood] {
            let server = RawServer::start([vec![], vec![RawFrame::Headers], vec![last]]);
            let caller = stack.caller(server.channel(), &setup().retrying([DOWN]));
            let calls = [0, 1, 2].map(|turn| {
                let mut caller = caller.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(ms(turn)).await;
                    report_of(&caller.list(reported(ListAssetsRequest::default())).await)
                })
            });
            for (call, turn) in calls.into_iter().zip([0, 1, 2]) {
                let report = call.await.unwrap();
                let [lost, good] = report.attempts() else { panic!("{report}") };
                assert_eq!(
                    (lost.code(), lost.end(), good.code()),
                    (DOWN, ms(2 - turn), Code::Ok),
                    "{stack:?} {last:?}"
                );
                assert!((200..=800).contains(&waits(&report)[0]), "{stack:?} {last:?} {turn}: {report}");
                assert_eq!(
                    report.notes(),
                    [Note::CONNECTION_CLOSED_FOR_A_RESPONSE],
                    "{stack:?} {last:?} {turn}"
                );
            }
            assert_eq!(server.requests(), [1, 1, 1, 2, 2, 2], "{stack:?} {last:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_codes_too_a_call_that_dies_with_others_is_unavailable() {
    let server = RawServer::start([vec![], vec![RawFrame::Garbage]]);
    let caller = Stack::Generated.caller(server.channel(), &setup().retrying(CodeSet::EMPTY));
    let calls = [(); 2].map(|()| {
        let mut caller = caller.clone();
        tokio::spawn(async move { caller.list(ListAssetsRequest::default()).await.unwrap_err() })
    });
    for call in calls {
        let status = call.await.unwrap();
        assert_eq!(status.code(), tonic::Code::Unavailable, "{status:?}");
        assert_eq!(error_report(&status).stop_reason(), Some(StopReason::NonRetryable));
    }
}

fn page(token: &str) -> BodyPart {
    BodyPart::message(&ListAssetsResponse { next_page_token: token.to_owned(), ..Default::default() })
}

/// The RPC is unary: its response is one message.
#[tokio::test(start_paused = true)]
async fn a_second_message_of_a_unary_rpc_is_internal_and_final() {
    let good = BodyPart::trailers(&[("grpc-status", "0")]);
    let BodyPart::Data(first) = page("one") else { unreachable!() };
    let cut = |at| [BodyPart::Data(first.slice(..at)), BodyPart::Data(first.slice(at..))];
    let plays = [
        vec![page("one"), page("two"), good.clone()],
        vec![page("one"), BodyPart::Wait(ms(100)), page("two"), BodyPart::Hang],
        [cut(3).to_vec(), vec![page("two"), good.clone()]].concat(),
        [cut(first.len() - 1).to_vec(), vec![BodyPart::Data(Bytes::from_static(b"\0")), good.clone()]]
            .concat(),
        vec![BodyPart::Data([&first[..], &first[..]].concat().into()), good],
    ];
    for play in plays {
        for stack in [Stack::Generated, Stack::LayerWithDescriptors] {
            let server = VirtualServer::start(Script::always(Reply::play(play.clone())));
            let status = stack.list(server.channel(), &setup()).await.unwrap_err();
            assert_eq!(status.code(), tonic::Code::Internal, "{stack:?} {play:?}: {status:?}");
            assert!(status.message().contains("more than one message"), "{status:?}");
            let report = error_report(&status);
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{stack:?} {play:?}");
            assert_eq!(report.notes(), [Note::UNREADABLE_RESPONSE], "{stack:?} {play:?}");
            assert_eq!(server.seen().len(), 1, "{stack:?} {play:?}");
        }
    }
}

/// Without descriptors nobody knows: what goes on after a message is a stream.
#[tokio::test(start_paused = true)]
async fn a_second_message_is_passed_on_where_the_kind_is_not_known() {
    let play = [page("one"), page("two"), BodyPart::trailers(&[("grpc-status", "0")])];
    let server = VirtualServer::start(Script::always(Reply::play(play)));
    let mut caller = Stack::Layer.caller(server.channel(), &setup());
    let result = caller.list(reported(ListAssetsRequest::default())).await;
    assert_eq!(report_of(&result).notes(), [Note::COMMITTED]);
    assert_eq!(result.unwrap().into_inner().next_page_token, "one");
}
