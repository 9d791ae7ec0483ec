//! The cost of a response that comes in very many frames.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use allocation_counter::measure;
use bytes::Bytes;
use gax_retry::RetrySettings;
use http::{HeaderMap, HeaderValue};
use http_body::{Body as HttpBody, Frame};
use prost::Message as _;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;
use tonic_gax_tests::generated::google::cloud::asset::v1::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::{Setup, Stack};
use tower_service::Service;

const LENGTH: usize = 200_000;

/// Replies with one message, so many bytes a frame.
#[derive(Debug, Clone)]
struct Trickle {
    message: Bytes,
    frame: usize,
}

impl Trickle {
    fn new(frame: usize) -> Self {
        let response =
            ListAssetsResponse { next_page_token: "x".repeat(LENGTH), ..ListAssetsResponse::default() };
        let length = u32::try_from(response.encoded_len()).unwrap().to_be_bytes();
        Self { message: [&[0], length.as_slice(), &response.encode_to_vec()].concat().into(), frame }
    }
}

impl Service<http::Request<Body>> for Trickle {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Ready<Result<Self::Response, Status>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        ready(Ok(http::Response::new(Body::new(Frames { rest: self.clone(), is_open: true }))))
    }
}

struct Frames {
    rest: Trickle,
    is_open: bool,
}

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Trickle { message, frame } = &mut self.rest;
        if !message.is_empty() {
            let data = message.split_to(message.len().min(*frame));
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if !std::mem::take(&mut self.is_open) {
            return Poll::Ready(None);
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }
}

/// The most bytes that one call holds at a time, beside the message that the service has anyway.
fn peak(stack: Stack, frame: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let settings = RetrySettings::no_retry(Duration::from_secs(600));
    let mut caller = stack.caller(Trickle::new(frame), &Setup::new(settings));
    let info = measure(|| {
        runtime.block_on(async {
            let response = caller.list(ListAssetsRequest::default()).await.unwrap();
            assert_eq!(response.get_ref().next_page_token.len(), LENGTH);
        });
    });
    usize::try_from(info.bytes_max).unwrap()
}

#[test]
fn a_frame_of_one_byte_costs_little_more_than_its_byte() {
    for stack in Stack::ALL {
        for frame in [1, 7, 100, 1000] {
            let peak = peak(stack, frame);
            assert!(peak < 6 * LENGTH, "{stack:?}: {peak} bytes in frames of {frame}");
        }
    }
}
