//! Retries inside the attempts of other retries: the report of the outer operation has the true number of requests.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_driver::{Retryer, retry_blocking};
use gax_http::HttpRetryLayer;
use gax_retry::{Code, RetrySettings};
use http_body_util::Full;
use std::time::Duration;
use tonic::Status;
use tonic_gax::{Note, OperationReport};
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, VirtualServer, error_report, failed, ms,
    report_of,
};

/// So many attempts, immediately one after the other.
fn attempts(count: u32) -> RetrySettings {
    let settings = RetrySettings::builder().initial_retry_delay(Duration::ZERO).max_attempts(count);
    settings.total_timeout(ms(10_000)).build().unwrap()
}

fn is_said(report: &OperationReport, attempts: u32, requests: u32) {
    assert_eq!((report.attempt_count(), report.request_count()), (attempts, requests), "{report}");
    let is_stacked = requests > attempts;
    assert_eq!(report.notes().contains(&Note::RETRIED_INSIDE), is_stacked, "{report}");
    let said = format!("retried by another layer or client below: {requests} requests");
    assert_eq!(report.to_string().contains(&said), is_stacked, "{report}");
}

#[tokio::test(start_paused = true)]
async fn retries_of_a_layer_below_are_counted() {
    let setup = |count| Setup::new(attempts(count));
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let below = setup(5).layer().layer(server.channel());
        let status = stack.list(below.clone(), &setup(5)).await.unwrap_err();
        is_said(&error_report(&status), 5, 25);
        assert_eq!(server.seen().len(), 25);
        let status = stack.list(setup(2).layer().layer(below), &setup(3)).await.unwrap_err();
        is_said(&error_report(&status), 3, 30);
        // A single attempt below is no retry.
        let single = setup(1).layer().layer(server.channel());
        is_said(&error_report(&stack.list(single, &setup(5)).await.unwrap_err()), 5, 5);
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_says_it_too_and_so_does_an_attempt_that_timed_out() {
    for stack in Stack::ALL {
        let unavailable = [(); 3].map(|()| (ms(0), Reply::unavailable()));
        let server = VirtualServer::start(Script::of(unavailable));
        let below = Setup::new(attempts(5)).layer().layer(server.channel());
        is_said(&report_of(&stack.list(below, &Setup::new(attempts(5))).await), 1, 4);

        let server = VirtualServer::start(Script::cycle([(ms(300), Reply::unavailable())]));
        let below = Setup::new(attempts(50)).layer().layer(server.channel());
        let timed = attempts(2).to_builder().initial_rpc_timeout(ms(1000)).build().unwrap();
        let status = stack.list(below, &Setup::new(timed)).await.unwrap_err();
        is_said(&error_report(&status), 2, u32::try_from(server.seen().len()).unwrap());
        assert_eq!(server.seen().len(), 8, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn retries_over_http_are_counted() {
    let layer = |count| HttpRetryLayer::new(&attempts(count), [Code::Unavailable]);
    let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Reset));
    let below = layer(3).layer(FaultServer::full_client(connector));
    let error = failed::<_, Full<bytes::Bytes>>(&mut layer(2).layer(below), "http://server/").await;
    let requests = u32::try_from(server.arrivals().len()).unwrap();
    is_said(error.report(), 2, requests);
}

#[tokio::test(start_paused = true)]
async fn retries_in_a_closure_are_counted() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let setup = Setup::new(attempts(3));
    let retryer = Retryer::new(&attempts(4), [Code::Unavailable]);
    let error = retryer
        .run(|_| async { Stack::Layer.list(server.channel(), &setup).await.map(drop) })
        .await
        .unwrap_err();
    is_said(error.report(), 4, 12);
    // Where a thread is blocked, too.
    let codes = [Code::Unavailable];
    let fails = || Err::<(), _>(Status::unavailable(""));
    let error = retry_blocking(&attempts(2), codes, || {
        retry_blocking(&attempts(3), codes, fails).or_else(|_| fails())
    });
    is_said(error.unwrap_err().report(), 2, 6);
    // Two operations one after the other are none of each other's.
    let plain = Stack::Layer.list(server.channel(), &setup).await.unwrap_err();
    is_said(&error_report(&plain), 3, 3);
}
