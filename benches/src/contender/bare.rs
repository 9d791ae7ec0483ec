//! The least that a layer can do.

use super::traits::{Wire, over_tonic};
use crate::bench::echo_client::EchoClient;
use crate::canned::ReplyBody;
use crate::measure::moment;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Uri};
use http_body::Body as _;
use http_body_util::Full;
use pin_project_lite::pin_project;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::StdError;
use tower_service::Service;

const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// tonic's own client over a layer that makes one attempt and keeps what it would take to make another: the
/// message, the URI, a service, the time of its start. It buffers the response until it has seen the status.
///
/// It looks up no settings, keeps no headers, arms no timer, and can't retry: a floor for layers that do.
#[derive(Debug, Clone)]
pub struct Bare<S>(EchoClient<BareService<S>>);

impl<S: Wire> Bare<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(EchoClient::new(BareService(service)))
    }
}

over_tonic!(Bare, "bare layer: one attempt");

#[derive(Debug, Clone)]
struct BareService<S>(S);

impl<S: Wire> Service<http::Request<Body>> for BareService<S> {
    type Response = http::Response<ReplyBody>;
    type Error = StdError;
    type Future = Attempt<S>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Attempt<S> {
        let mut body = std::mem::take(request.body_mut());
        let mut message = Bytes::new();
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) {
            if let Ok(data) = frame.into_data() {
                message = data;
            }
        }
        *request.body_mut() = Body::new(Full::new(message.clone()));
        request.headers_mut().insert(GRPC_TIMEOUT, HeaderValue::from_static("30S"));
        let kept = (message, request.uri().clone(), self.0.clone(), moment());
        Attempt { sent: self.0.call(request), kept }
    }
}

/// The parts of another attempt: the message, the URI, a service, and when the first one started.
type Kept<S> = (Bytes, Uri, S, Instant);

pin_project! {
    struct Attempt<S: Wire> {
        #[pin]
        sent: S::Future,
        kept: Kept<S>,
    }
}

impl<S: Wire> Future for Attempt<S> {
    type Output = Result<http::Response<ReplyBody>, StdError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (parts, mut body) = ready!(this.sent.poll(cx)).map_err(Into::into)?.into_parts();
        black_box(&*this.kept);
        let mut held = ReplyBody::default();
        while let Poll::Ready(Some(frame)) = Pin::new(&mut body).poll_frame(cx) {
            match frame?.into_data() {
                Ok(data) => held.data = Some(data),
                Err(frame) => held.trailers = frame.into_trailers().ok(),
            }
        }
        let status = held.trailers.as_ref().and_then(|trailers| trailers.get(Status::GRPC_STATUS));
        match status.map(HeaderValue::as_bytes) {
            Some(b"0") => Poll::Ready(Ok(http::Response::from_parts(parts, held))),
            _ => Poll::Ready(Err(Status::unknown("not a response of the canned service").into())),
        }
    }
}
