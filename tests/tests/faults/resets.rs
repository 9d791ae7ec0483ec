//! Streams that are reset and connections that end, by reason and by how far the reply had come.

use gax_retry::{Code, CodeSet, RetrySettings, StopReason};
use std::io;
use std::time::Duration;
use tokio::time::sleep;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_gax::{OperationReport, note};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{
    RawFrame, RawServer, Setup, Stack, codes, error_report, ms, report_of, reported, row, rows, settings,
};

const DOWN: Code = Code::Unavailable;
const NO_ERROR: u32 = 0;
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;

/// A call of a server that plays these frames; what it reports and over which connections it went.
async fn call(
    stack: Stack,
    codes: impl Into<CodeSet>,
    plays: &[Vec<RawFrame>],
) -> (OperationReport, Vec<u32>) {
    let server = RawServer::start(plays.to_vec());
    let mut caller = stack.caller(server.channel(), &Setup::new(settings()).retrying(codes));
    let result = caller.list(reported(ListAssetsRequest::default())).await;
    (report_of(&result), server.requests())
}

/// The codes of the gRPC protocol's "Errors" table, and what follows from it for the reasons that it leaves out.
fn reasons() -> Vec<(u32, Code)> {
    vec![
        (NO_ERROR, Code::Internal),
        (1, Code::Internal),
        (2, Code::Internal),
        (3, Code::Internal),
        (4, Code::Internal),
        (5, Code::Internal),
        (6, Code::Internal),
        (REFUSED_STREAM, DOWN),
        (CANCEL, Code::Cancelled),
        (9, Code::Internal),
        (10, Code::Internal),
        (11, Code::ResourceExhausted),
        (12, Code::PermissionDenied),
        (13, Code::Internal),
        (0x1234, Code::Unknown),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_reset_before_the_headers() {
    for (reason, code) in reasons().into_iter().filter(|(reason, _)| *reason != REFUSED_STREAM) {
        for stack in Stack::ALL {
            let (report, requests) = call(stack, [], &[vec![RawFrame::Reset(reason)]]).await;
            assert_eq!(codes(&report), [code], "reason {reason}, {stack:?}");
            assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable));
            assert_eq!((report.transparent_retries(), requests.len()), (0, 1), "reason {reason}, {stack:?}");

            let (report, _) = call(stack, [code], &[vec![RawFrame::Reset(reason)]]).await;
            let table = [row(1, 1000, 0, 0, 0, code), row(2, 1000, 200, 200, 200, Code::Ok)];
            assert_eq!(rows(&report), table, "reason {reason}, {stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_after_the_headers_or_in_the_message() {
    for begun in [vec![RawFrame::Headers], vec![RawFrame::Headers, RawFrame::Data]] {
        for (reason, code) in reasons() {
            // hyper makes the end of the body of these two.
            let code = if reason == NO_ERROR { Code::Unknown } else { code };
            for stack in Stack::ALL {
                let play = [begun.clone(), vec![RawFrame::Reset(reason)]].concat();
                let (report, requests) = call(stack, [], &[play]).await;
                assert_eq!(codes(&report), [code], "reason {reason}, {stack:?}, {begun:?}");
                // Even REFUSED_STREAM: once a reply has begun, the server has seen the request.
                assert_eq!((report.transparent_retries(), requests.len()), (0, 1));
            }
        }
    }
}

/// The response is complete: that its stream is reset as well says nothing.
#[tokio::test(start_paused = true)]
async fn a_reset_after_the_trailers_changes_nothing() {
    for (reason, _) in reasons() {
        for stack in Stack::ALL {
            let (report, requests) = call(stack, [], &[vec![RawFrame::Good, RawFrame::Reset(reason)]]).await;
            assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Ok)], "reason {reason}, {stack:?}");
            assert_eq!((report.transparent_retries(), requests.len()), (0, 1), "reason {reason}, {stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_stream_is_sent_again_once_and_then_counts() {
    let refused = vec![RawFrame::Reset(REFUSED_STREAM)];
    for stack in Stack::ALL {
        // Not even UNAVAILABLE is retried, and the call succeeds: nobody had looked at it.
        let (report, requests) = call(stack, [], std::slice::from_ref(&refused)).await;
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?}");
        assert_eq!((report.transparent_retries(), requests.len()), (1, 2), "{stack:?}");

        let (report, requests) = call(stack, [], &[refused.clone(), refused.clone()]).await;
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, DOWN)], "{stack:?}");
        assert_eq!((report.transparent_retries(), requests.len()), (1, 2), "{stack:?}");

        // Once an operation, not once an attempt.
        let (report, requests) =
            call(stack, [DOWN], &[refused.clone(), refused.clone(), refused.clone()]).await;
        let table = [
            row(1, 1000, 0, 0, 0, DOWN),
            row(2, 1000, 200, 200, 200, DOWN),
            row(3, 1000, 200, 400, 400, Code::Ok),
        ];
        assert_eq!(rows(&report), table, "{stack:?}");
        assert_eq!((report.transparent_retries(), requests.len()), (1, 4), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_goaway_that_leaves_the_request_out_is_sent_again_over_another_connection() {
    for reason in [NO_ERROR, 2, 11] {
        let goaway = vec![RawFrame::GoAway { reason, taken: false }];
        for stack in Stack::ALL {
            let (report, requests) = call(stack, [], std::slice::from_ref(&goaway)).await;
            assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?} {reason}");
            assert_eq!((report.transparent_retries(), requests), (1, vec![1, 2]), "{stack:?} {reason}");

            let (report, requests) = call(stack, [DOWN], &[goaway.clone(), goaway.clone()]).await;
            let table = [row(1, 1000, 0, 0, 0, DOWN), row(2, 1000, 200, 200, 200, Code::Ok)];
            assert_eq!(rows(&report), table, "{stack:?} {reason}");
            assert_eq!((report.transparent_retries(), requests), (1, vec![1, 2, 3]), "{stack:?} {reason}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_goaway_that_takes_the_request_lets_it_be_replied() {
    for stack in Stack::ALL {
        let taken = RawFrame::GoAway { reason: NO_ERROR, taken: true };
        let (report, requests) = call(stack, [], &[vec![taken, RawFrame::Good]]).await;
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?}");
        assert_eq!((report.transparent_retries(), requests), (0, vec![1]), "{stack:?}");

        // And if the connection ends all the same, the request may have been carried out.
        let (report, requests) = call(stack, [DOWN], &[vec![taken, RawFrame::Drop]]).await;
        let table = [row(1, 1000, 0, 0, 0, DOWN), row(2, 1000, 200, 200, 200, Code::Ok)];
        assert_eq!(rows(&report), table, "{stack:?}");
        assert_eq!((report.transparent_retries(), requests), (0, vec![1, 2]), "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_drops_is_unavailable() {
    let plays = [
        vec![RawFrame::Drop],
        vec![RawFrame::Headers, RawFrame::Drop],
        vec![RawFrame::Headers, RawFrame::Data, RawFrame::Drop],
    ];
    for play in plays {
        for stack in Stack::ALL {
            let (report, requests) = call(stack, [DOWN], std::slice::from_ref(&play)).await;
            let table = [row(1, 1000, 0, 0, 0, DOWN), row(2, 1000, 200, 200, 200, Code::Ok)];
            assert_eq!(rows(&report), table, "{stack:?}, {play:?}");
            assert_eq!((report.transparent_retries(), requests), (0, vec![1, 2]), "{stack:?}, {play:?}");
        }
    }
}

/// The request is handed to a connection that is gone already: it was never sent.
#[tokio::test(start_paused = true)]
async fn a_request_that_meets_a_dead_connection_is_sent_over_the_next() {
    for stack in Stack::ALL {
        let server = RawServer::start([vec![RawFrame::Good, RawFrame::Drop]]);
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()).retrying([]));
        caller.list(ListAssetsRequest::default()).await.unwrap();
        let result = caller.list(reported(ListAssetsRequest::default())).await;
        assert_eq!(rows(&report_of(&result)), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?}");
        assert_eq!(server.requests(), [1, 2], "{stack:?}");
    }
}

/// A server's reset with CANCEL is its deadline for the call, if the attempt's time is up.
#[tokio::test(start_paused = true)]
async fn a_cancel_that_comes_with_the_deadline_is_the_deadline() {
    for begun in [vec![], vec![RawFrame::Headers]] {
        for stack in Stack::ALL {
            let late =
                [vec![RawFrame::Wait(ms(1000))], begun.clone(), vec![RawFrame::Reset(CANCEL)]].concat();
            let (report, _) = call(stack, [], &[late]).await;
            assert_eq!(rows(&report), [row(1, 1000, 0, 0, 1000, Code::DeadlineExceeded)], "{stack:?}");
        }
    }
}

/// Above 100 seconds the header counts in milliseconds: the server's clock may be a fraction early.
#[tokio::test(start_paused = true)]
async fn a_cancel_that_comes_a_fraction_before_the_deadline_is_the_deadline() {
    let total = Duration::from_micros(295_123_999);
    let settings = RetrySettings::builder().total_timeout(total).build().unwrap();
    for stack in Stack::ALL {
        let play = [RawFrame::Headers, RawFrame::Wait(ms(295_123)), RawFrame::Reset(CANCEL)];
        let server = RawServer::start([play.to_vec()]);
        let status =
            stack.list(server.channel(), &Setup::new(settings.clone()).retrying([])).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}: {status}");
        assert_eq!(error_report(&status).notes(), [note::COUNTED_AS_DEADLINE_EXCEEDED], "{stack:?}");
    }
}

/// A channel whose first connections are refused, each after a while.
fn refusing(times: u32, after: Duration, server: &RawServer) -> Channel {
    let mut left = times;
    let connect = server.connector();
    Endpoint::from_static("http://virtual.test").connect_with_connector_lazy(tower::service_fn(
        move |_: Uri| {
            let refused = left > 0;
            left = left.saturating_sub(1);
            let connected = (!refused).then(|| connect.connect());
            async move {
                if refused {
                    sleep(after).await;
                }
                connected.unwrap_or_else(|| Err(io::ErrorKind::ConnectionRefused.into()))
            }
        },
    ))
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_refused_is_an_attempt_like_any_other() {
    for stack in Stack::ALL {
        let server = RawServer::start([]);
        let mut caller = stack.caller(refusing(2, ms(30), &server), &Setup::new(settings()));
        let result = caller.list(ListAssetsRequest::default()).await;
        let table = [
            row(1, 1000, 0, 0, 30, DOWN),
            row(2, 1000, 200, 230, 260, DOWN),
            row(3, 1000, 200, 460, 460, Code::Ok),
        ];
        assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
        assert_eq!(report_of(&result).transparent_retries(), 0);
        assert_eq!(server.requests(), [1], "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_s_clock_covers_connecting() {
    for stack in Stack::ALL {
        let server = RawServer::start([]);
        let hanging = refusing(u32::MAX, ms(100_000), &server);
        let mut caller = stack.caller(hanging, &Setup::new(settings()).retrying([]));
        let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
        assert_eq!(
            rows(&error_report(&status)),
            [row(1, 1000, 0, 0, 1000, Code::DeadlineExceeded)],
            "{stack:?}"
        );
    }
}
