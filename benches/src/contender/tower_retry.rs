//! `tower::retry`, as somebody who knows it well would set it up: the request is buffered, `grpc-timeout` is what is left of the
//! call's time, and the response is collected, since the status of a gRPC call comes last.

use super::traits::{Wire, over_tonic};
use crate::bench::echo_client::EchoClient;
use crate::measure::moment;
use crate::pace::{ATTEMPT_TIMEOUT, Pace, attempt_timeout};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt as _, Full};
use pin_project_lite::pin_project;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};
use tonic::body::Body;
use tonic::codegen::StdError;
use tonic::{Code, Status};
use tower::retry::{Policy, Retry};
use tower::util::ServiceExt as _;
use tower_service::Service;

const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// tonic's own client over `tower::retry`.
#[derive(Debug, Clone)]
pub struct TowerRetry<S>(EchoClient<Buffering<S>>);

impl<S: Wire> TowerRetry<S> {
    /// Over a service.
    pub fn new(service: S, pace: Pace) -> Self {
        let policy = Unavailable { pace, attempt: 1, start: moment() };
        Self(EchoClient::new(Buffering(Retry::new(policy, Collecting(service)))))
    }
}

over_tonic!(TowerRetry, "tower::retry, a hand-tuned policy");

fn timeout_value(timeout: Duration) -> HeaderValue {
    HeaderValue::try_from(format!("{}m", timeout.as_millis())).expect("digits and a letter are a value")
}

/// Reads the request's body and gives it to the retries below.
#[derive(Debug, Clone)]
struct Buffering<S>(Retry<Unavailable, Collecting<S>>);

impl<S: Wire> Service<http::Request<Body>> for Buffering<S> {
    type Response = http::Response<Collected>;
    type Error = StdError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, StdError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let retry = self.0.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            parts.headers.insert(GRPC_TIMEOUT, timeout_value(ATTEMPT_TIMEOUT));
            let body = body.collect().await?.to_bytes();
            retry.oneshot(http::Request::from_parts(parts, body)).await
        })
    }
}

/// Sends the bytes and collects the reply.
#[derive(Debug, Clone)]
struct Collecting<S>(S);

impl<S: Wire> Service<http::Request<Bytes>> for Collecting<S> {
    type Response = http::Response<Collected>;
    type Error = StdError;
    type Future = Collect<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<Bytes>) -> Self::Future {
        let sent = self.0.call(request.map(|bytes| Body::new(Full::new(bytes))));
        Collect { sent, reply: None }
    }
}

pin_project! {
    /// A reply on its way, which is collected once its head is there.
    struct Collect<F> {
        #[pin]
        sent: F,
        reply: Option<(http::Response<Collected>, Body)>,
    }
}

impl<F, E> Future for Collect<F>
where
    F: Future<Output = Result<http::Response<Body>, E>>,
    E: Into<StdError>,
{
    type Output = Result<http::Response<Collected>, StdError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut reply, mut body) = if let Some(begun) = this.reply.take() {
            begun
        } else {
            let (parts, body) = ready!(this.sent.poll(cx)).map_err(Into::into)?.into_parts();
            (http::Response::from_parts(parts, Collected::default()), body)
        };
        loop {
            match Pin::new(&mut body).poll_frame(cx) {
                Poll::Ready(Some(frame)) => reply.body_mut().add(frame?),
                Poll::Ready(None) => return Poll::Ready(Ok(reply)),
                Poll::Pending => {
                    *this.reply = Some((reply, body));
                    return Poll::Pending;
                }
            }
        }
    }
}

/// A body that was collected.
#[derive(Debug, Default)]
struct Collected {
    data: Option<Bytes>,
    more: VecDeque<Bytes>,
    trailers: Option<HeaderMap>,
}

impl Collected {
    fn add(&mut self, frame: Frame<Bytes>) {
        match frame.into_data() {
            Ok(data) if self.data.is_none() => self.data = Some(data),
            Ok(data) => self.more.push_back(data),
            Err(frame) => self.trailers = frame.into_trailers().ok(),
        }
    }
}

impl HttpBody for Collected {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let data = self.data.take().or_else(|| self.more.pop_front()).map(Frame::data);
        Poll::Ready(data.or_else(|| self.trailers.take().map(Frame::trailers)).map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none() && self.more.is_empty() && self.trailers.is_none()
    }
}

/// Retries UNAVAILABLE while there is time.
#[derive(Debug, Clone)]
struct Unavailable {
    pace: Pace,
    attempt: u32,
    start: Instant,
}

impl Policy<http::Request<Bytes>, http::Response<Collected>, StdError> for Unavailable {
    type Future = Delay;

    fn retry(
        &mut self,
        request: &mut http::Request<Bytes>,
        result: &mut Result<http::Response<Collected>, StdError>,
    ) -> Option<Self::Future> {
        let status = |headers: &HeaderMap| headers.get(Status::GRPC_STATUS).cloned();
        let status = match result {
            Ok(reply) => status(reply.headers()).or_else(|| reply.body().trailers.as_ref().and_then(status)),
            Err(_) => None,
        };
        let is_retryable =
            status.is_some_and(|status| Code::from_bytes(status.as_bytes()) == Code::Unavailable);
        if !is_retryable || self.attempt >= self.pace.attempts {
            return None;
        }
        self.attempt += 1;
        request.headers_mut().insert(GRPC_TIMEOUT, timeout_value(attempt_timeout(self.start)));
        Some(Delay { sleep: (!self.pace.delay.is_zero()).then(|| sleep(self.pace.delay)) })
    }

    fn clone_request(&mut self, request: &http::Request<Bytes>) -> Option<http::Request<Bytes>> {
        if self.attempt == 1 {
            self.start = moment();
        }
        Some(request.clone())
    }
}

pin_project! {
    /// A delay. Somebody who tunes by hand knows that tokio's timer takes a millisecond for one of zero.
    struct Delay {
        #[pin]
        sleep: Option<Sleep>,
    }
}

impl Future for Delay {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project().sleep.as_pin_mut() {
            Some(sleep) => sleep.poll(cx),
            None => Poll::Ready(()),
        }
    }
}
