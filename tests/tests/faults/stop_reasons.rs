//! Why operations end, and what their error and report say.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use crate::faults::delivery::Busy;
use gax_retry::{Code, RetrySettings, StopReason};
use std::error::Error as _;
use std::future::{Pending, pending};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::{Request, Status};
use tonic_gax::{CallOptions, Note, OperationError, OperationReport, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, ListAssetsRequest, ListAssetsResponse,
};
use tonic_gax_tests::{
    BodyPart, Reply, Script, Setup, Stack, VirtualServer, codes, error_report, lasting, ms, report_of,
    reported, row, rows,
};
use tower::buffer::Buffer;
use tower::limit::ConcurrencyLimit;
use tower_service::Service;

const LATE: Code = Code::DeadlineExceeded;
const DOWN: Code = Code::Unavailable;

fn settings() -> RetrySettings {
    lasting(3000)
}

/// The stop reason of an operation against that script, and the number of attempts that the server saw.
async fn stopped(stack: Stack, setup: &Setup, script: Script) -> (Option<StopReason>, usize) {
    let server = VirtualServer::start(script);
    let status = stack.list(server.channel(), setup).await.unwrap_err();
    let report = error_report(&status);
    assert_eq!(OperationError::of(&status).unwrap().stop_reason(), report.stop_reason());
    (report.stop_reason(), server.seen().len())
}

/// An operation that waits for its next attempt takes no place in the queue of those that have work to do.
#[tokio::test(start_paused = true)]
async fn no_place_in_a_queue_is_held_through_a_delay() {
    for stack in Stack::ALL {
        let busy = (ms(1500), Reply::Serve);
        let server = VirtualServer::start(Script::of([busy]));
        let channel = ConcurrencyLimit::new(server.channel(), 1);
        let patient = Setup::new(RetrySettings::builder().total_timeout(ms(9000)).build().unwrap());
        let slow = settings().to_builder().initial_retry_delay(ms(1800)).build().unwrap();

        let mut first = stack.caller(channel.clone(), &patient);
        let first = tokio::spawn(async move { first.list(ListAssetsRequest::default()).await });
        tokio::time::sleep(ms(100)).await;
        // Its first attempt waits for the first call, from 100 to 1100 ms; then it is not heard of for long.
        let mut second = stack.caller(channel.clone(), &Setup::new(slow));
        let second = tokio::spawn(async move { second.list(ListAssetsRequest::default()).await });
        tokio::time::sleep(ms(1100)).await;
        let mut third = stack.caller(channel, &patient);
        third.list(ListAssetsRequest::default()).await.unwrap();
        assert_eq!(server.log().elapsed(), ms(1500), "{stack:?}");
        first.await.unwrap().unwrap();
        let report = report_of(&second.await.unwrap());
        let table = [row(1, 1000, 0, 0, 1000, LATE), row(2, 200, 1800, 2800, 2800, Code::Ok)];
        assert_eq!(rows(&report), table, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_limit_has_its_reason() {
    let down = || Script::always(Reply::unavailable());
    let three = settings().to_builder().max_attempts(3).build().unwrap();
    let unlimited = RetrySettings::builder().initial_retry_delay(ms(200)).build().unwrap();
    let broken = Reply::play([
        BodyPart::Data(vec![0, 0, 0, 0, 9, 1].into()),
        BodyPart::trailers(&[("grpc-status", "0")]),
    ]);
    for stack in Stack::ALL {
        let setup = Setup::new(settings());
        let internal = Script::always(Reply::code(tonic::Code::Internal));
        assert_eq!(stopped(stack, &setup, internal).await, (Some(StopReason::NonRetryable), 1));
        // At 0, 200, 400 ... 2800 ms; 3000 would be too late.
        assert_eq!(stopped(stack, &setup, down()).await, (Some(StopReason::TotalTimeout), 15));
        assert_eq!(
            stopped(stack, &Setup::new(three.clone()), down()).await,
            (Some(StopReason::MaxAttempts), 3)
        );
        // Stub settings refuse them.
        if stack != Stack::Generated {
            let setup = Setup::new(unlimited.clone());
            assert_eq!(stopped(stack, &setup, down()).await, (Some(StopReason::NoLimits), 1));
        }
        let small = setup.clone().replaying(1);
        assert_eq!(stopped(stack, &small, down()).await, (Some(StopReason::NotReplayable), 1));
        if stack == Stack::Generated {
            let script = Script::always(broken.clone());
            assert_eq!(stopped(stack, &setup, script).await, (Some(StopReason::NonRetryable), 1));
        }
    }
}

/// A call that finds the service busy goes out as soon as it is not, though nobody else calls.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_turn_gets_it() {
    for stack in Stack::ALL {
        let busy = (ms(500), Reply::Serve);
        let server = VirtualServer::start(Script::of([busy.clone(), busy]));
        let channel = ConcurrencyLimit::new(server.channel(), 1);
        let patient = Setup::new(RetrySettings::builder().total_timeout(ms(9000)).build().unwrap());
        let mut first = stack.caller(channel.clone(), &patient);
        let mut second = stack.caller(channel, &patient);
        let (first, second) =
            tokio::join!(first.list(ListAssetsRequest::default()), second.list(ListAssetsRequest::default()));
        first.unwrap();
        second.unwrap();
        assert_eq!((server.log().elapsed(), server.seen().len()), (ms(1000), 2), "{stack:?}");
    }
}

#[derive(Debug, Clone, Copy)]
struct NeverReady;

impl Service<http::Request<Body>> for NeverReady {
    type Response = http::Response<Body>;
    type Error = io::Error;
    type Future = Pending<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Err(io::Error::other("the pool is gone")))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        pending()
    }
}

#[tokio::test(start_paused = true)]
async fn a_channel_that_is_closed_for_good_is_not_asked_again() {
    for stack in Stack::ALL {
        let channel = Buffer::new(NeverReady, 1);
        let mut caller = stack.caller(channel, &Setup::new(settings()));
        for _ in 0..2 {
            let status = caller.list(ListAssetsRequest::default()).await.unwrap_err();
            let report = error_report(&status);
            assert_eq!(report.stop_reason(), Some(StopReason::ChannelClosed), "{stack:?}");
            assert_eq!(rows(&report), [row(1, 1000, 0, 0, 0, DOWN)], "{stack:?}");
            assert_eq!(status.code(), tonic::Code::Unavailable, "{stack:?}");
            let mut causes =
                std::iter::successors(status.source(), |error: &&(dyn std::error::Error + 'static)| {
                    (*error).source()
                });
            assert!(causes.any(|cause| cause.to_string().contains("the pool is gone")), "{stack:?}");
        }
    }
}

/// A service that is never ready: the attempt's clock runs all the same.
#[tokio::test(start_paused = true)]
async fn an_attempt_s_clock_covers_the_wait_for_the_channel() {
    for stack in Stack::ALL {
        let mut caller = stack.caller(Busy, &Setup::new(settings()));
        let report = report_of(&caller.list(ListAssetsRequest::default()).await);
        let table = [
            row(1, 1000, 0, 0, 1000, LATE),
            row(2, 1000, 200, 1200, 2200, LATE),
            row(3, 600, 200, 2400, 3000, LATE),
        ];
        assert_eq!(rows(&report), table, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tonic_server_s_own_timeout_is_the_attempt_s() {
    let late = Reply::status(Status::cancelled("Timeout expired"));
    for stack in Stack::ALL {
        let script = || Script::of([(ms(1000), late.clone()), (ms(999), late.clone())]);
        let server = VirtualServer::start(script());
        let status = stack.list(server.channel(), &Setup::new(settings())).await.unwrap_err();
        let table = [row(1, 1000, 0, 0, 1000, LATE), row(2, 1000, 200, 1200, 2199, Code::Cancelled)];
        // Before its time is up, the attempt was cancelled by somebody else.
        assert_eq!(rows(&error_report(&status)), table, "{stack:?}");
        assert_eq!(status.code(), tonic::Code::Cancelled, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_has_its_report_after_a_retry_or_on_request() {
    let report = |response: &tonic::Response<ListAssetsResponse>| {
        response.extensions().get::<OperationReport>().cloned()
    };
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()));
        let plain = caller.list(ListAssetsRequest::default()).await.unwrap();
        assert_eq!(report(&plain), None, "{stack:?}");

        let asked = caller.list(reported(ListAssetsRequest::default())).await.unwrap();
        assert_eq!(rows(&report(&asked).unwrap()), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?}");

        let setup = Setup::new(settings()).reporting();
        let every = stack.list(server.channel(), &setup).await.unwrap();
        assert_eq!(rows(&report(&every).unwrap()), [row(1, 1000, 0, 0, 0, Code::Ok)], "{stack:?}");

        let server = VirtualServer::start(Script::at_once([Reply::unavailable()]));
        let retried = stack.list(server.channel(), &Setup::new(settings())).await.unwrap();
        let table = [row(1, 1000, 0, 0, 0, DOWN), row(2, 1000, 200, 200, 200, Code::Ok)];
        assert_eq!(rows(&report(&retried).unwrap()), table, "{stack:?}");
    }
}

/// A unary response whose trailers follow at once is classified as a whole, with every client.
#[tokio::test(start_paused = true)]
async fn an_error_after_the_message_is_retried() {
    let page = ListAssetsResponse { next_page_token: "first".to_owned(), ..Default::default() };
    let status = Status::unavailable("after all");
    for stack in Stack::ALL {
        let reply = Reply::play([BodyPart::message(&page), BodyPart::status(&status)]);
        let server = VirtualServer::start(Script::at_once([reply]));
        let result = stack.list(server.channel(), &Setup::new(settings())).await;
        let table = [row(1, 1000, 0, 0, 0, DOWN), row(2, 1000, 200, 200, 200, Code::Ok)];
        assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
        assert_eq!(result.unwrap().into_inner().next_page_token, "", "{stack:?}");

        // If the trailers take their time, the message of an RPC of unknown kind is handed over first.
        let reply =
            Reply::play([BodyPart::message(&page), BodyPart::Wait(ms(10)), BodyPart::status(&status)]);
        let server = VirtualServer::start(Script::at_once([reply]));
        let result = stack.list(server.channel(), &Setup::new(settings())).await;
        if stack == Stack::Layer {
            let status = result.unwrap_err();
            assert_eq!((status.code(), status.message()), (tonic::Code::Unavailable, "after all"));
            assert_eq!(server.seen().len(), 1);
        } else {
            assert_eq!(report_of(&result).attempts().len(), 2, "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_says_that_the_response_was_committed() {
    let page = ListAssetsResponse::default();
    let good = BodyPart::trailers(&[("grpc-status", "0")]);
    let server = VirtualServer::start(Script::always(Reply::play([
        BodyPart::message(&page),
        BodyPart::Wait(ms(10)),
        good,
    ])));
    for (stack, notes) in [
        (Stack::Generated, vec![]),
        (Stack::LayerWithDescriptors, vec![]),
        (Stack::Layer, vec![Note::COMMITTED]),
    ] {
        let mut caller = stack.caller(server.channel(), &Setup::new(settings()));
        let result = caller.list(reported(ListAssetsRequest::default())).await;
        assert_eq!(report_of(&result).notes(), notes, "{stack:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_texts_of_errors_and_reports() {
    let server = VirtualServer::start(Script::always(Reply::status(Status::unavailable("down"))));
    let two = settings().to_builder().max_attempts(2).build().unwrap();
    let status = Stack::Generated.list(server.channel(), &Setup::new(two)).await.unwrap_err();
    let error = OperationError::of(&status).unwrap();
    assert_eq!(
        error.to_string(),
        "/google.cloud.asset.v1.AssetService/ListAssets failed after 2 attempts in 200 ms (MAX_ATTEMPTS)"
    );
    assert_eq!(
        error.report().to_string(),
        "/google.cloud.asset.v1.AssetService/ListAssets failed after 2 attempts in 200 ms (MAX_ATTEMPTS)\n\
         attempt | RPC timeout | retry delay | invoked |  ended | code\n\
         --------+-------------+-------------+---------+--------+------------\n      \
               1 |         1 s |        0 ms |    0 ms |   0 ms | UNAVAILABLE\n      \
               2 |         1 s |      200 ms |  200 ms | 200 ms | UNAVAILABLE"
    );
}

/// The options of a call count even where no table has a word on its method.
#[tokio::test(start_paused = true)]
async fn a_call_s_own_options_make_an_operation_of_it() {
    use tonic_gax_tests::generated::google::cloud::asset::v1::ExportAssetsRequest;
    use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
    let server = VirtualServer::start(Script::at_once([Reply::unavailable()]));
    let mut client = TonicClient::new(Setup::new(settings()).layer().layer(server.channel()));
    let options = CallOptions::new().retry_settings(settings()).retryable_codes([DOWN]);
    let request = Request::new(ExportAssetsRequest::default()).with_call_options(options);
    let result = client.export_assets(request).await;
    assert_eq!(report_of(&result).attempts().len(), 2);
    assert_eq!(server.seen(), [(0, Some(1000)), (200, Some(1000))]);
}

/// Waits of nothing are no waits: all attempts at once, and other tasks get their turn in between.
#[tokio::test(start_paused = true)]
async fn without_a_delay_attempts_follow_each_other_at_once() {
    let at_once = RetrySettings::builder()
        .max_attempts(100)
        .initial_retry_delay(ms(0))
        .total_timeout(ms(3000))
        .build()
        .unwrap();
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::unavailable()));
        let status = stack.list(server.channel(), &Setup::new(at_once.clone())).await.unwrap_err();
        assert_eq!(error_report(&status).stop_reason(), Some(StopReason::MaxAttempts), "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(3000)); 100], "{stack:?}");
    }
}

/// A call is a future like any other: it may be spawned, and outlive the client.
#[tokio::test(start_paused = true)]
async fn a_call_may_run_anywhere() {
    let server = VirtualServer::start(Script::at_once([Reply::unavailable()]));
    let setup = Setup::new(settings()).reporting();
    let client = AssetServiceClient::with_settings(server.channel(), setup.client());
    let calls: Vec<_> =
        (0..10).map(|_| tokio::spawn(client.list_assets(ListAssetsRequest::default()))).collect();
    drop(client);
    let mut retried = 0;
    for call in calls {
        let response = call.await.unwrap();
        retried += report_of(&response).attempts().len() - 1;
    }
    assert_eq!((retried, server.seen().len()), (1, 11));
}

/// Whose clock ended a call decides whether it is retried: a tonic server's, once the attempt's time is up, counts as ours unless
/// the program says otherwise.
#[tokio::test(start_paused = true)]
async fn a_server_s_timeout_is_a_cancellation_where_it_is_not_ours() {
    for stack in Stack::ALL {
        for (setup, expected) in [
            (Setup::new(lasting(1500)), vec![LATE, LATE]),
            (Setup::new(lasting(1500)).with_server_timeouts_as_sent(), vec![Code::Cancelled]),
        ] {
            let mut caller = stack.caller(Late, &setup.retrying([LATE]));
            let report = report_of(&caller.list(ListAssetsRequest::default()).await);
            assert_eq!(codes(&report), expected, "{stack:?}");
        }
    }
}

/// A server whose clock ends each call in the moment in which the attempt's time is up.
#[derive(Debug, Clone, Copy)]
struct Late;

impl Service<http::Request<Body>> for Late {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        Box::pin(async {
            tokio::time::sleep(ms(1000)).await;
            Ok(Status::cancelled("Timeout expired").into_http())
        })
    }
}
