//! Services that say they can't take a request.

use gax_retry::Code;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::codegen::StdError;
use tonic::transport::Channel;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use tonic_gax_tests::{Reply, Script, Setup, Stack, VirtualServer, report_of, row, rows, settings};
use tower_service::Service;

const DOWN: Code = Code::Unavailable;

/// Fails when it is asked whether it is ready, so many times; what has failed must be left alone.
#[derive(Debug)]
struct Fragile {
    channel: Channel,
    left: Arc<AtomicU32>,
    has_failed: bool,
}

impl Fragile {
    fn new(channel: Channel, times: u32) -> Self {
        Self { channel, left: Arc::new(AtomicU32::new(times)), has_failed: false }
    }
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        Self { channel: self.channel.clone(), left: Arc::clone(&self.left), has_failed: false }
    }
}

impl Service<http::Request<Body>> for Fragile {
    type Response = http::Response<Body>;
    type Error = StdError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, StdError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        assert!(!self.has_failed, "a service that has failed was asked again");
        let take = |left: u32| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            self.has_failed = true;
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()));
        }
        self.channel.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        assert!(!self.has_failed, "a service that has failed was called");
        let response = self.channel.call(request);
        Box::pin(async { response.await.map_err(Into::into) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_has_failed_is_left_alone() {
    for stack in Stack::ALL {
        let server = VirtualServer::start(Script::always(Reply::Serve));
        let fragile = Fragile::new(server.channel(), 3);
        let mut caller = stack.caller(fragile, &Setup::new(settings()));
        let result = caller.list(ListAssetsRequest::default()).await;
        let table = [
            row(1, 1000, 0, 0, 0, DOWN),
            row(2, 1000, 200, 200, 200, DOWN),
            row(3, 1000, 200, 400, 400, DOWN),
            row(4, 1000, 200, 600, 600, Code::Ok),
        ];
        assert_eq!(rows(&report_of(&result)), table, "{stack:?}");
        caller.list(ListAssetsRequest::default()).await.unwrap();
    }
}

/// Calls that pass through are treated alike: a stream of requests, which is sent once.
#[tokio::test(start_paused = true)]
async fn so_it_is_by_a_call_that_passes_through() {
    for layer in [Setup::new(settings()).layer(), Setup::new(settings()).layer_with_descriptors()] {
        let server = VirtualServer::start(Script::always(Reply::Pass));
        let mut client = TonicTalkClient::new(layer.layer(Fragile::new(server.channel(), 1)));
        let lines = || tokio_stream::iter(vec![Line::default(); 3]);
        let status = client.tell(lines()).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::Unavailable);
        assert_eq!(client.tell(lines()).await.unwrap().into_inner().count, 3);
    }
}
