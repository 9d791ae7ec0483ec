//! Calls with a stream on either side. They are not retried; the settings bound their time.

use super::method::Method;
use crate::grpc::{Own, Passing, ResponseBody, Transport, shorter, time_left, timeout_in};
use crate::operation::Note;
use crate::settings::CallOptions;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::{Response, Status, Streaming};
use tower_service::Service;

/// A call that is answered with a stream; it resolves when the stream begins.
///
/// It is one attempt, under the settings' total timeout, which covers the whole stream.
///
/// # Cancel safety
///
/// To drop it stops the call at once; the server sees the stream reset.
#[must_use = "futures do nothing unless polled"]
pub struct StreamingCall<M> {
    inner: BoxCall<Streaming<M>>,
}

/// A call that takes a stream and is answered with one message.
///
/// It is one attempt, under the settings' total timeout.
///
/// # Cancel safety
///
/// To drop it stops the call at once; the server sees the stream reset.
#[must_use = "futures do nothing unless polled"]
pub struct MessageCall<M> {
    inner: BoxCall<M>,
}

type BoxCall<R> = Pin<Box<dyn Future<Output = Result<Response<R>, Status>> + Send>>;

impl<M> StreamingCall<M> {
    pub(super) fn new(
        call: impl Future<Output = Result<Response<Streaming<M>>, Status>> + Send + 'static,
    ) -> Self {
        Self { inner: Box::pin(call) }
    }
}

impl<M> MessageCall<M> {
    pub(super) fn new(call: impl Future<Output = Result<Response<M>, Status>> + Send + 'static) -> Self {
        Self { inner: Box::pin(call) }
    }
}

impl<M> Future for StreamingCall<M> {
    type Output = Result<Response<Streaming<M>>, Status>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(cx)
    }
}

impl<M> Future for MessageCall<M> {
    type Output = Result<Response<M>, Status>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(cx)
    }
}

impl<M> fmt::Debug for StreamingCall<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamingCall").finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for MessageCall<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageCall").finish_non_exhaustive()
    }
}

/// A channel that puts one method's deadline and report around each call.
#[derive(Debug, Clone)]
pub(super) struct Timed<T> {
    channel: T,
    method: Arc<Method>,
}

impl<T> Timed<T> {
    pub(super) fn new(channel: T, method: Arc<Method>) -> Self {
        Self { channel, method }
    }
}

impl<T: Transport> Service<http::Request<Body>> for Timed<T> {
    type Response = http::Response<ResponseBody>;
    type Error = Status;
    type Future = Passing<Own<T>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let Method { plan, kind, uri, .. } = &*self.method;
        *request.uri_mut() = uri.clone();
        let options = request.extensions_mut().remove::<CallOptions>();
        let deadline = shorter(timeout_in(request.headers()), time_left());
        let own = plan.of_call(options.as_ref(), deadline);
        let note = kind.streams_requests().then_some(Note::RequestIsAStream);
        let wants_report = options.is_some_and(|options| options.report);
        let (plan, access) = (own.as_ref().unwrap_or(plan), Own(self.channel.clone()));
        Passing::watched(access, &mut self.channel, request, plan, note, wants_report)
    }
}
