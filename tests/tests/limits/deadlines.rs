//! The caller's own deadline, and a server's inbound one.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_retry::{Code, Compatibility, RetrySettings, StopReason};
use std::time::Duration;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};
use tonic_gax::{CallOptions, DeadlineLayer, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::{
    Reply, Script, Setup, Stack, VirtualServer, error_report, ms, pipes, report_of, row, rows, spaced,
};

const LATE: Code = Code::DeadlineExceeded;

/// Attempts of a second, half a second apart, ten seconds in all.
fn steady() -> RetrySettings {
    spaced(500, 10_000).to_builder().max_rpc_timeout(ms(1000)).build().unwrap()
}

fn request() -> Request<ListAssetsRequest> {
    Request::new(ListAssetsRequest::default())
}

fn with_header(timeout: Duration) -> Request<ListAssetsRequest> {
    let mut request = request();
    request.set_timeout(timeout);
    request
}

#[tokio::test(start_paused = true)]
async fn both_ways_to_say_it_bound_the_operation() {
    let table = [
        row(1, 1000, 0, 0, 1000, LATE),
        row(2, 1000, 500, 1500, 2500, LATE),
        row(3, 200, 500, 3000, 3200, LATE),
    ];
    for stack in Stack::ALL {
        for compatibility in [Compatibility::Documented, Compatibility::GaxJava] {
            let by_option = request().with_call_options(CallOptions::new().timeout(ms(3200)));
            for request in [with_header(ms(3200)), by_option] {
                let server = VirtualServer::start(Script::always(Reply::Hang));
                let setup = Setup::new(steady()).compatible(compatibility);
                let mut caller = stack.caller(server.channel(), &setup);
                let report = report_of(&caller.list(request).await);
                assert_eq!(rows(&report), table, "{stack:?} {compatibility:?}");
                assert_eq!(report.stop_reason(), Some(StopReason::TotalTimeout));
                let seen = [(0, Some(1000)), (1500, Some(1000)), (3000, Some(200))];
                assert_eq!(server.seen(), seen, "{stack:?} {compatibility:?}");
            }
        }
    }
}

/// A call's timeout is in place of the settings' ten seconds; the header bounds either.
#[tokio::test(start_paused = true)]
async fn the_shortest_of_the_caller_s_own_counts() {
    for (header, option, timeout, end) in [
        (800, 300, 300, 300),
        (300, 800, 300, 300),
        (40_000, 70_000, 1000, 40_000),
        (70_000, 40_000, 1000, 40_000),
    ] {
        for stack in Stack::ALL {
            let server = VirtualServer::start(Script::always(Reply::Hang));
            let mut caller = stack.caller(server.channel(), &Setup::new(steady()));
            let options = CallOptions::new().timeout(ms(option));
            let result = caller.list(with_header(ms(header)).with_call_options(options)).await;
            assert_eq!(server.seen()[0], (0, Some(timeout)), "{stack:?}");
            assert_eq!(report_of(&result).elapsed(), ms(end), "{stack:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_nothing_makes_no_attempt() {
    for stack in Stack::ALL {
        let by_option = request().with_call_options(CallOptions::new().timeout(Duration::ZERO));
        for request in [with_header(Duration::ZERO), by_option] {
            let server = VirtualServer::start(Script::always(Reply::Serve));
            let mut caller = stack.caller(server.channel(), &Setup::new(steady()));
            let status = caller.list(request).await.unwrap_err();
            assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
            assert_eq!(error_report(&status).attempts(), []);
            assert_eq!(error_report(&status).stop_reason(), Some(StopReason::TotalTimeout));
            assert_eq!(server.seen(), []);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_bounds_a_method_without_limits() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut caller = stack.caller(server.channel(), &Setup::new(RetrySettings::default()).retrying([]));
        let report = report_of(&caller.list(with_header(ms(700))).await);
        assert_eq!(rows(&report), [row(1, 700, 0, 0, 700, LATE)], "{stack:?}");
        assert_eq!(server.seen(), [(0, Some(700))], "{stack:?}");
    }
}

/// The settings' timeout is cut to the units of the header, so that a server's own timer may fire first.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_a_fraction_early_is_still_late() {
    // Above 100 seconds the header counts in milliseconds: the server gives up at 295,123 ms.
    let total = Duration::from_micros(295_123_999);
    let settings = RetrySettings::builder().total_timeout(total).build().unwrap();
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut caller = stack.caller(server.channel(), &Setup::new(settings.clone()));
        let status = caller.list(request()).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        let report = error_report(&status);
        assert_eq!(report.attempts()[0].code(), LATE, "{stack:?}");
        assert_eq!(server.log().arrivals()[0].grpc_timeout(), Some("295123m"), "{stack:?}");
    }
}

/// A handler that asks another service.
struct Asks {
    assets: AssetServiceClient<Channel>,
    /// How long it does something else between making the call and awaiting it.
    busy: Duration,
}

#[tonic::async_trait]
impl Talk for Asks {
    async fn ask(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        tokio::time::sleep(ms(200)).await;
        let call = self.assets.list_assets(ListAssetsRequest::default());
        if !self.busy.is_zero() {
            tokio::time::sleep(self.busy).await;
        }
        call.await?;
        Ok(Response::new(request.into_inner()))
    }
}

async fn through_a_handler(layered: bool, busy: Duration) -> Vec<(u64, Option<u64>)> {
    let backend = VirtualServer::start(Script::always(Reply::Hang));
    let assets = AssetServiceClient::with_settings(backend.channel(), Setup::new(steady()).client());
    let (channel, incoming) = pipes();
    let talk = TalkServer::new(Asks { assets, busy });
    if layered {
        let server = Server::builder().layer(DeadlineLayer::new()).add_service(talk);
        tokio::spawn(server.serve_with_incoming(incoming));
    } else {
        tokio::spawn(Server::builder().add_service(talk).serve_with_incoming(incoming));
    }
    let mut request = Request::new(Line::default());
    request.set_timeout(ms(2000));
    let status = TalkClient::new(channel).ask(request).await.unwrap_err();
    assert!(matches!(status.code(), tonic::Code::Cancelled | tonic::Code::DeadlineExceeded), "{status}");
    backend.seen()
}

#[tokio::test(start_paused = true)]
async fn an_inbound_deadline_bounds_what_the_handler_calls() {
    assert_eq!(through_a_handler(true, Duration::ZERO).await, [(200, Some(1000)), (1700, Some(300))]);
}

#[tokio::test(start_paused = true)]
async fn without_the_layer_the_handler_s_calls_know_of_no_deadline() {
    assert_eq!(through_a_handler(false, Duration::ZERO).await, [(200, Some(1000)), (1700, Some(1000))]);
}

/// The inbound deadline is a moment, not a span: a call that is made early and awaited late gets no more.
#[tokio::test(start_paused = true)]
async fn an_inbound_deadline_does_not_move_with_the_call() {
    assert_eq!(through_a_handler(true, ms(1500)).await, [(1700, Some(300))]);
}
