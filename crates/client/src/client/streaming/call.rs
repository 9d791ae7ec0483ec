//! Calls with a stream on either side.

use crate::client::streaming::response_stream::ResponseStream;
use gax_streams::__private::{MessageSource, SharedSource};
use http::Extensions;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::metadata::MetadataMap;
use tonic::{Response, Status, Streaming};
use tonic_gax::__private::{Call, MethodMatch, OwnService, ResponseBody};
use tonic_gax::GrpcTransport;
use tower_service::Service;

/// A call with a stream on either side. It resolves to a response with one message, or with a
/// [stream of messages](crate::client::ResponseStream) when that begins.
///
/// Until its first message a stream of responses is an operation like any other, which is retried by its settings: no message
/// has been seen by then. RPC timeouts are not applied to it, since a stream may well be long where its parts are not;
/// the total timeout covers all attempts and the whole stream. (By gax-java's rules the RPC timeout bounds each whole
/// stream, and by gRPC's there is no other attempt once a response has headers.)
///
/// A call that takes a stream is one attempt, under the settings' total timeout, unless its requests are
/// [replayed](tonic_gax::ReplayOptions::replay_streams), as they are by gRPC's rules. Then another attempt may follow until the
/// response has headers, or more was sent than is buffered.
///
/// # Cancel safety
///
/// Dropping it stops the call immediately; the server sees the stream reset.
#[must_use = "futures do nothing unless polled"]
pub struct StreamingCall<R> {
    inner: Pin<Box<dyn Future<Output = Result<Response<R>, Status>> + Send>>,
}

impl<R> StreamingCall<R> {
    pub(in crate::client) fn new(
        call: impl Future<Output = Result<Response<R>, Status>> + Send + 'static,
    ) -> Self {
        Self { inner: Box::pin(call) }
    }
}

impl<M: Send + 'static> StreamingCall<ResponseStream<M>> {
    pub(in crate::client) fn plain(
        call: impl Future<Output = Result<Response<Streaming<M>>, Status>> + Send + 'static,
    ) -> Self {
        Self::new(async move { Ok(call.await?.map(ResponseStream::plain)) })
    }

    /// A stream that resumes, or whose caller is watched.
    pub(in crate::client) fn resumed(
        call: impl Future<Output = Result<Box<dyn MessageSource<M>>, Status>> + Send + 'static,
        idle_timeout: Option<Duration>,
    ) -> Self {
        Self::new(async move {
            let source = call.await?;
            let metadata = MetadataMap::from_headers(source.head());
            let stream = ResponseStream::resumed(SharedSource::new(source, idle_timeout));
            Ok(Response::from_parts(metadata, stream, Extensions::new()))
        })
    }
}

impl<R> Future for StreamingCall<R> {
    type Output = Result<Response<R>, Status>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(cx)
    }
}

gax_text::short_debug! { self: [R] StreamingCall<R> {} }

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

impl<T: GrpcTransport> Service<http::Request<Body>> for Timed<T> {
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
        Call::begin(handle, &mut self.channel, request, self.method.clone())
    }
}
