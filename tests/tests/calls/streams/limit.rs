//! Calls that wait for a free stream, because the server limits how many a connection may have, when that
//! connection ends.

use gax_retry::{Code, StopReason};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{
    RawFrame, RawServer, Setup, Stack, error_report, ms, report_of, reported, row, rows, settings,
};

const DOWN: Code = Code::Unavailable;

/// Ways for the connection to end under the one call that runs.
fn ends() -> Vec<Vec<RawFrame>> {
    let goaway = |reason| RawFrame::GoAway { reason, taken: true };
    vec![
        vec![RawFrame::Drop],
        vec![goaway(0), RawFrame::Good],
        vec![goaway(0), RawFrame::Drop],
        vec![goaway(2), RawFrame::Good],
        vec![goaway(11), RawFrame::Drop],
    ]
}

/// One call runs, the second waits for its stream, the third behind it.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_a_stream_outlive_their_connection() {
    for end in ends() {
        for stack in Stack::ALL {
            let play = [vec![RawFrame::Wait(ms(100))], end.clone()].concat();
            let server = RawServer::with_stream_limit(1, [vec![RawFrame::Good], play]);
            let mut caller = stack.caller(server.channel(), &Setup::new(settings()).retrying([DOWN]));
            // The server's limit is known once it has replied.
            caller.list(ListAssetsRequest::default()).await.unwrap();

            let start = |turn: u64| {
                let mut caller = caller.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(ms(turn)).await;
                    report_of(&caller.list(reported(ListAssetsRequest::default())).await)
                })
            };
            let (running, waiting, behind) = (start(0), start(1), start(2));
            let context = format!("{stack:?} {end:?}");
            running.await.unwrap();
            let waiting = waiting.await.unwrap();
            let table = [row(1, 1000, 0, 0, 99, DOWN), row(2, 1000, 200, 299, 299, Code::Ok)];
            assert_eq!(rows(&waiting), table, "{context}");
            assert_eq!(waiting.transparent_retries(), 0, "{context}");
            // Nobody but the client had seen this one.
            let behind = behind.await.unwrap();
            assert_eq!(rows(&behind), [row(1, 1000, 0, 0, 98, Code::Ok)], "{context}");
            assert_eq!(behind.transparent_retries(), 1, "{context}");
        }
    }
}

/// Whether the request had left when the connection ended is not known: without the code it is not sent again.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_stream_is_unavailable() {
    for stack in Stack::ALL {
        let play = [RawFrame::Wait(ms(100)), RawFrame::Drop];
        let server = RawServer::with_stream_limit(1, [vec![RawFrame::Good], play.to_vec()]);
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()).retrying([]));
        caller.list(ListAssetsRequest::default()).await.unwrap();
        let mut running = caller.clone();
        let running = tokio::spawn(async move { running.list(ListAssetsRequest::default()).await });
        tokio::time::sleep(ms(1)).await;
        let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
        running.await.unwrap().unwrap_err();
        assert_eq!(status.code(), tonic::Code::Unavailable, "{stack:?}: {status}");
        let report = error_report(&status);
        assert_eq!(rows(&report), [row(1, 1000, 0, 0, 99, DOWN)], "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::NonRetryable), "{stack:?}");
    }
}
