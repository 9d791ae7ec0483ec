//! When an operation starts.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use bytes::Bytes;
use gax_retry::RetrySettings;
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::body::Body;
use tonic_gax_tests::generated::google::cloud::asset::v1::{AssetServiceClient, ListAssetsRequest};
use tonic_gax_tests::{Reply, Script, Setup, VirtualServer, error_report, ms};
use tower::limit::ConcurrencyLimit;
use tower_service::Service as _;

fn setup() -> Setup {
    let settings = RetrySettings::builder().jittered(false).total_timeout(ms(1000));
    Setup::new(settings.build().unwrap())
}

/// A request of tonic's own client, without the client: an empty message.
fn request() -> http::Request<Body> {
    with_body(Body::new(Full::new(Bytes::from_static(&[0; 5]))))
}

fn with_body(body: Body) -> http::Request<Body> {
    http::Request::post("/google.cloud.asset.v1.AssetService/ListAssets")
        .version(http::Version::HTTP_2)
        .header("te", "trailers")
        .header("content-type", "application/grpc")
        .body(body)
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn under_the_layer_it_starts_with_the_call() {
    for layer in [setup().layer(), setup().layer_with_descriptors()] {
        let server = VirtualServer::start(Script::of([(ms(900), Reply::Serve)]));
        let mut service = layer.layer(server.channel());
        let call = service.call(request());
        sleep(ms(300)).await;
        assert_eq!(server.seen(), [(0, Some(1000))]);
        let response = call.await.unwrap();
        assert_eq!((response.status(), server.log().elapsed()), (http::StatusCode::OK, ms(900)));
    }
}

#[tokio::test(start_paused = true)]
async fn its_clock_runs_before_it_is_polled() {
    for layer in [setup().layer(), setup().layer_with_descriptors()] {
        let server = VirtualServer::start(Script::always(Reply::Hang));
        let mut service = layer.layer(server.channel());
        let call = service.call(request());
        sleep(ms(1200)).await;
        let status = call.await.unwrap_err();
        assert_eq!((status.code(), server.log().elapsed()), (tonic::Code::DeadlineExceeded, ms(1200)));
        assert_eq!(server.seen(), [(0, Some(1000))]);
    }
}

/// A call that has to wait for its turn is sent when it is polled, with the time that is left.
#[tokio::test(start_paused = true)]
async fn a_busy_service_is_asked_again_when_the_call_is_polled() {
    for layer in [setup().layer(), setup().layer_with_descriptors()] {
        let server = VirtualServer::start(Script::of([(ms(200), Reply::Serve)]));
        let mut service = layer.layer(ConcurrencyLimit::new(server.channel(), 1));
        let first = service.call(request());
        let second = service.call(request());
        drop(first.await.unwrap());
        sleep(ms(100)).await;
        drop(second.await.unwrap());
        assert_eq!(server.seen(), [(0, Some(1000)), (300, Some(700))]);
    }
}

/// A body that sends an empty message after 300 ms, and ends after so much more.
fn slow_body(end: Duration) -> Body {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        sleep(ms(300)).await;
        let _gone = sender.send(Ok::<_, Status>(Frame::data(Bytes::from_static(&[0; 5])))).await;
        sleep(end).await;
    });
    Body::new(StreamBody::new(ReceiverStream::new(receiver)))
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_unary_request_s_body_takes_is_the_operation_s() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let mut service = setup().layer_with_descriptors().layer(server.channel());
    drop(service.call(with_body(slow_body(ms(200)))).await.unwrap());
    assert_eq!(server.seen(), [(500, Some(500))]);

    let status = service.call(with_body(slow_body(ms(60_000)))).await.unwrap_err();
    assert_eq!((status.code(), server.log().elapsed()), (tonic::Code::DeadlineExceeded, ms(1500)));
    assert_eq!(error_report(&status).attempts(), []);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn in_a_generated_client_it_starts_when_it_is_polled() {
    let server = VirtualServer::start(Script::always(Reply::Serve));
    let client = AssetServiceClient::with_settings(server.channel(), setup().client());
    let call = client.list_assets(ListAssetsRequest::default());
    sleep(ms(300)).await;
    call.await.unwrap();
    assert_eq!(server.seen(), [(300, Some(1000))]);
}
