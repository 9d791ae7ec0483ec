//! The stream of responses that a generated client hands out.

use gax_driver::OperationReport;
use gax_streams::__private::{MessageSource, SharedSource};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_stream::Stream;
use tonic::metadata::MetadataMap;
use tonic::{Status, Streaming};

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
