//! Calls with a stream on either side, and the stream of responses that a generated client hands out.

use gax_driver::OperationReport;
use gax_streams::__private::{MessageSource, SharedSource};
use http::Extensions;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::metadata::MetadataMap;
use tonic::{Response, Status, Streaming};
use tonic_gax::__private::{Call, MethodMatch, OwnService, ResponseBody};
use tonic_gax::GrpcTransport;
use tower_service::Service;

/// The messages of a streaming call.
///
/// It is a [`Stream`], and has the methods of tonic's [`Streaming`]. If the call has a
/// [resumption](gax_streams::resumption::Resumption), it continues over further connections: the messages of all of them come out of
/// this one stream.
///
/// # Cancel safety
///
/// A future of [`message`](Self::message) may be dropped: no message is lost. If the stream is dropped, the server sees it
/// reset immediately.
pub struct ResponseStream<M> {
    source: Source<M>,
}

enum Source<M> {
    /// It has one connection.
    Plain(Streaming<M>),
    /// It may have further ones.
    Resumed(SharedSource<M>),
}

impl<M: Send + 'static> ResponseStream<M> {
    pub(in crate::client) fn plain(stream: Streaming<M>) -> Self {
        Self { source: Source::Plain(stream) }
    }

    pub(in crate::client) fn resumed(source: SharedSource<M>) -> Self {
        Self { source: Source::Resumed(source) }
    }

    /// A fact of a stream that may have further connections.
    fn look<T>(&self, fact: impl FnOnce(&(dyn MessageSource<M> + 'static)) -> T) -> Option<T> {
        match &self.source {
            Source::Plain(_) => None,
            Source::Resumed(source) => Some(source.look(fact)),
        }
    }

    /// The next message; `None` after the last one.
    ///
    /// # Errors
    ///
    /// The stream has failed, and is not resumed.
    pub async fn message(&mut self) -> Result<Option<M>, Status> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await.transpose()
    }

    /// The trailers of a stream that has ended well, once. Messages that are still to come are dropped.
    ///
    /// # Errors
    ///
    /// The stream has failed, and is not resumed.
    pub async fn trailers(&mut self) -> Result<Option<MetadataMap>, Status> {
        let source = match &mut self.source {
            Source::Plain(stream) => return stream.trailers().await,
            Source::Resumed(source) => source.get_mut(),
        };
        while let Some(message) = poll_fn(|cx| source.poll_message(cx)).await {
            message?;
        }
        Ok(source.take_trailers().map(MetadataMap::from_headers))
    }

    /// The metadata of the connection that was opened last. `None`: the stream is not resumed, and the response has the
    /// metadata of its only one.
    #[must_use]
    pub fn metadata(&self) -> Option<MetadataMap> {
        self.look(|source| MetadataMap::from_headers(source.head()))
    }

    gax_text::getters! { self:
        /// How often the stream was [restarted](gax_streams::resumption::Resume::Anew), as of the connection that was opened last: after
        /// that, messages may come again.
        pub restarts: u64 = self.look(MessageSource::restarts).unwrap_or_default();

        /// The report of a stream that resumes, once it has ended: a row for each connection.
        pub report: Option<OperationReport> = self.look(MessageSource::report).flatten();
    }

    /// tonic's stream.
    ///
    /// # Errors
    ///
    /// The stream may have further connections, so that tonic's type is not enough: here it is again.
    #[expect(clippy::result_large_err, reason = "the stream comes back as it was")]
    pub fn into_streaming(self) -> Result<Streaming<M>, Self> {
        match self.source {
            Source::Plain(stream) => Ok(stream),
            source @ Source::Resumed(_) => Err(Self { source }),
        }
    }
}

impl<M: Send + 'static> Stream for ResponseStream<M> {
    type Item = Result<M, Status>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.source {
            Source::Plain(stream) => Pin::new(stream).poll_next(cx),
            Source::Resumed(source) => source.get_mut().poll_message(cx),
        }
    }
}

impl<M> fmt::Debug for ResponseStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.source {
            Source::Plain(_) => "plain",
            Source::Resumed(_) => "resumed",
        };
        f.debug_tuple("ResponseStream").field(&kind).finish()
    }
}

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
