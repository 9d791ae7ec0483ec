//! Calls with a stream on either side.

use crate::client::streaming::response_stream::ResponseStream;
use crate::grpc::{Call, MessageSource, MethodMatch, OwnService, ResponseBody, SharedSource, Transport};
use http::Extensions;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::metadata::MetadataMap;
use tonic::{Response, Status, Streaming};
use tower_service::Service;

/// A call whose response is a stream; it resolves when the stream begins.
///
/// Until its first message the stream is an operation like any other, which is retried by its settings: no message
/// has been seen by then. RPC timeouts are not applied to it, since a stream may well be long where its parts are not;
/// the total timeout covers all attempts and the whole stream. (By gax-java's rules the RPC timeout bounds each whole
/// stream, and by gRPC's there is no other attempt once a response has headers.)
///
/// A call that takes a stream as well is one attempt, unless its requests are
/// [replayed](crate::RetryLayer::replay_streams), as they are by gRPC's rules. Then another attempt may follow until the
/// response has headers, or more was sent than is buffered.
///
/// # Cancel safety
///
/// Dropping it stops the call immediately; the server sees the stream reset.
#[must_use = "futures do nothing unless polled"]
pub struct StreamingCall<M> {
    inner: BoxCall<ResponseStream<M>>,
}

/// A call that takes a stream and gets one message back.
///
/// It is one attempt, under the settings' total timeout, unless its requests are
/// [replayed](crate::RetryLayer::replay_streams), as they are by gRPC's rules.
///
/// # Cancel safety
///
/// Dropping it stops the call immediately; the server sees the stream reset.
#[must_use = "futures do nothing unless polled"]
pub struct MessageCall<M> {
    inner: BoxCall<M>,
}

type BoxCall<R> = Pin<Box<dyn Future<Output = Result<Response<R>, Status>> + Send>>;

impl<M> StreamingCall<M> {
    pub(in crate::client) fn new(
        call: impl Future<Output = Result<Response<Streaming<M>>, Status>> + Send + 'static,
    ) -> Self
    where
        M: Send + 'static,
    {
        Self { inner: Box::pin(async move { Ok(call.await?.map(ResponseStream::plain)) }) }
    }

    /// A stream that resumes, or whose caller is watched.
    pub(in crate::client) fn resumed(
        call: impl Future<Output = Result<Box<dyn MessageSource<M>>, Status>> + Send + 'static,
        idle_timeout: Option<Duration>,
    ) -> Self
    where
        M: Send + 'static,
    {
        let call = async move {
            let source = call.await?;
            let metadata = MetadataMap::from_headers(source.head());
            let stream = ResponseStream::resumed(SharedSource::new(source, idle_timeout));
            Ok(Response::from_parts(metadata, stream, Extensions::new()))
        };
        Self { inner: Box::pin(call) }
    }
}

impl<M> MessageCall<M> {
    pub(in crate::client) fn new(
        call: impl Future<Output = Result<Response<M>, Status>> + Send + 'static,
    ) -> Self {
        Self { inner: Box::pin(call) }
    }
}

impl<M> Future for StreamingCall<M> {
    type Output = Result<Response<ResponseStream<M>>, Status>;

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

/// A channel that makes an operation of each call of one method.
#[derive(Debug, Clone)]
pub(in crate::client) struct Timed<T> {
    channel: T,
    method: MethodMatch,
}

impl<T> Timed<T> {
    pub(in crate::client) fn new(channel: T, method: MethodMatch) -> Self {
        Self { channel, method }
    }
}

impl<T: Transport> Service<http::Request<Body>> for Timed<T> {
    type Response = http::Response<ResponseBody>;
    type Error = Status;
    type Future = Call<OwnService<T>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        if let Some(example) = self.method.config.example() {
            *request.uri_mut() = example.uri.clone();
        }
        let handle = OwnService(self.channel.clone());
        let mut call = Call::not_begun();
        if call.begin(handle, &mut self.channel, &mut request, self.method.clone()) {
            let entered = call.enter();
            call.sent(self.channel.call(request));
            drop(entered);
        }
        call
    }
}
