//! Layers of tower between the retries and the connection, and around the retries: what their errors are taken for.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_http::{HttpRetryLayer, TransportFailure};
use gax_retry::{Attempt, Code, Delivery, RetrySettings, StopReason};
use http_body_util::Full;
use std::future::{Pending, pending};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic_gax::{Note, OperationReport};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use tonic_gax_tests::{
    FaultServer, HttpAct, HttpScript, Reply, Script, Setup, Stack, VirtualServer, codes, error_report,
    failed, ms,
};
use tower::limit::ConcurrencyLimit;
use tower::load_shed::LoadShed;
use tower::timeout::{Timeout, TimeoutLayer};
use tower_layer::Layer as _;
use tower_service::Service;

const LATE: Code = Code::DeadlineExceeded;
const URL: &str = "http://server/";

/// Two attempts of a second each.
fn settings() -> RetrySettings {
    let settings = RetrySettings::builder().jittered(false).initial_retry_delay(ms(50)).max_attempts(2);
    settings.initial_rpc_timeout(ms(1000)).total_timeout(ms(5000)).build().unwrap()
}

fn http() -> HttpRetryLayer {
    HttpRetryLayer::new(&settings(), [LATE, Code::Unavailable])
}

fn ends(report: &OperationReport) -> Vec<(Code, Duration)> {
    report.attempts().iter().map(|attempt: &Attempt| (attempt.code(), attempt.end())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_shorter_timeout_inside_is_a_deadline_and_the_report_says_whose() {
    let late = [(LATE, ms(100)), (LATE, ms(250))];
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let channel = TimeoutLayer::new(ms(100)).layer(server.channel());
        let status = stack.list(channel, &Setup::new(settings())).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded, "{stack:?}");
        assert!(status.message().contains("request timed out"), "{status}");
        let report = error_report(&status);
        assert_eq!(ends(&report), late, "{stack:?}");
        assert_eq!(report.notes(), [Note::INNER_TIMEOUT], "{stack:?}");
        assert_eq!(report.delivery(), Delivery::Unknown);
    }
    let (_server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::Stall));
    let inner = Timeout::new(FaultServer::full_client(connector), ms(100));
    let error = failed::<_, Full<Bytes>>(&mut http().layer(inner), URL).await;
    assert_eq!((error.code(), error.failure()), (LATE, Some(TransportFailure::Timeout)));
    assert!(error.to_string().contains("the last attempt timed out"), "{error}");
    assert_eq!(ends(error.report()), late);
    assert!(error.report().notes().contains(&Note::INNER_TIMEOUT));
}

/// The retries end with the call that they are inside of.
#[tokio::test(start_paused = true)]
async fn a_timeout_outside_ends_the_call() {
    let server = VirtualServer::start(Script::always(Reply::unavailable()));
    let setup = Setup::new(settings().to_builder().max_attempts(100).build().unwrap());
    let service = Timeout::new(setup.layer().layer(server.channel()), ms(120));
    let mut client = AssetServiceClient::new(service);
    client.list_assets(ListAssetsRequest::default()).await.unwrap_err();
    let seen = server.seen().len();
    tokio::time::sleep(ms(5000)).await;
    assert_eq!(server.seen().len(), seen);
}

/// A layer that sheds load passes nothing on.
#[tokio::test(start_paused = true)]
async fn an_overloaded_layer_has_sent_nothing() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let channel = LoadShed::new(ConcurrencyLimit::new(server.channel(), 0));
        let setup = Setup::new(settings()).retrying([Code::ResourceExhausted]);
        let status = stack.list(channel, &setup).await.unwrap_err();
        let report = error_report(&status);
        assert_eq!(codes(&report), [Code::ResourceExhausted; 2], "{stack:?}");
        assert_eq!(report.delivery(), Delivery::NotSent, "{stack:?}");
        assert!(status.message().contains("overloaded"), "{status}");
        assert!(server.seen().is_empty());
    }
    let (server, connector) = FaultServer::in_memory(HttpScript::always(HttpAct::status(200)));
    let inner = LoadShed::new(ConcurrencyLimit::new(FaultServer::full_client(connector), 0));
    let error = failed::<_, Full<Bytes>>(&mut http().layer(inner), URL).await;
    assert_eq!(error.failure(), Some(TransportFailure::Connect));
    assert_eq!(error.report().delivery(), Delivery::NotSent);
    assert!(error.to_string().contains("a layer of the client was overloaded"), "{error}");
    assert!(server.arrivals().is_empty());
}

/// A layer that fails when it is asked whether it is ready, with an error that nobody knows: a balancer without a source of
/// endpoints, a task that is gone.
#[derive(Debug, Clone, Copy)]
struct NeverReady;

impl<B> Service<http::Request<B>> for NeverReady {
    type Response = http::Response<Body>;
    type Error = std::fmt::Error;
    type Future = Pending<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::fmt::Error>> {
        Poll::Ready(Err(std::fmt::Error))
    }

    fn call(&mut self, _: http::Request<B>) -> Self::Future {
        pending()
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_not_ready_is_unavailable_and_has_sent_nothing() {
    for stack in Stack::ALL {
        let status = stack.list(NeverReady, &Setup::new(settings())).await.unwrap_err();
        let report = error_report(&status);
        assert_eq!(codes(&report), [Code::Unavailable; 2], "{stack:?}");
        assert_eq!(report.delivery(), Delivery::NotSent, "{stack:?}");
        assert_eq!(report.stop_reason(), Some(StopReason::MaxAttempts), "{stack:?}");
    }
    let error = failed::<_, Full<Bytes>>(&mut http().layer(NeverReady), URL).await;
    assert_eq!((error.code(), error.report().delivery()), (Code::Unavailable, Delivery::NotSent));
}
