//! A request that can be sent several times.

use crate::grpc::methods::MethodConfig;
use crate::grpc::template::AttemptTimeout;
use bytes::Bytes;
use gax_driver::Note;
use gax_retry::operation::Replayable;
use http::uri::PathAndQuery;
use http_body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::Status;
use tonic::body::Body;

/// The request of one operation. Each attempt is written whole, from what was buffered of it.
pub trait ReplayableRequest {
    /// The method's path, as reports name it.
    fn path(&self, config: &MethodConfig) -> PathAndQuery;

    /// Returns whether tonic's generated code has named its method.
    fn is_described(&self, _config: &MethodConfig) -> bool {
        false
    }

    /// The time that the caller gives the operation, from its start, if that is not said as it starts.
    #[inline]
    fn bound(&self) -> Option<Duration> {
        None
    }

    /// Returns whether the first attempt can be sent: false for one that has to be read first.
    #[inline]
    fn is_prepared(&self) -> bool {
        true
    }

    /// Reads the request, where that was not done before the operation started.
    #[inline]
    fn prepare(&mut self, _config: &MethodConfig, _cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    /// Writes the request of that attempt, into the caller's own request or into a new one: see
    /// [`Template::write`](crate::grpc::template::Template::write).
    fn write(
        &mut self,
        into: &mut http::Request<Body>,
        config: &MethodConfig,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
    );

    /// Another message replaces the one that attempts were sent before. A stream of requests has none.
    fn replace(&mut self, message: Bytes);

    /// Attempts from now on ask for responses that are not compressed, where the request itself says what its sender can read.
    fn refuse_compression(&mut self) {}

    /// The caller's own request, written for the first attempt, has to wait.
    fn put_off(&mut self, _request: http::Request<Body>) {}

    /// Why it is sent once only; `None`: it may be sent again.
    fn note(&self, config: &MethodConfig) -> Option<Note>;

    /// Returns whether it may be sent again after that attempt.
    #[inline]
    fn replayable(&self, config: &MethodConfig, _attempt: u32) -> Replayable {
        self.note(config).is_none().into()
    }

    /// Returns whether more of it was sent with that attempt than is buffered, so that no other can be sent it. While that may
    /// come, the task is woken when it does.
    #[inline]
    fn watch(&self, _attempt: u32, _cx: &Context<'_>) -> Option<Note> {
        None
    }

    /// The attempt that more of it was sent with than is buffered.
    #[inline]
    fn committed(&self) -> Option<u32> {
        None
    }

    /// That attempt has failed: it is sent no more.
    #[inline]
    fn ended(&self, _attempt: u32) {}

    /// That attempt has the reply: no other follows. Returns whether more of the request was sent than is buffered.
    #[inline]
    fn replied(&self, _attempt: u32) -> Option<Note> {
        None
    }

    /// Why it can't be read to its end.
    fn error(&self) -> Option<Status> {
        None
    }

    /// Returns whether it has anything in its extensions that a layer on the way may read.
    fn is_watched(&self, _config: &MethodConfig) -> bool {
        true
    }

    /// Releases memory that it has to spare, before a wait.
    fn shrink(&mut self);
}

/// Why a message is sent once only, if it is.
#[inline]
pub fn too_large(message: &Bytes, config: &MethodConfig) -> Option<Note> {
    // With a limit of zero even an empty message is too large.
    (message.len().max(1) > config.shared.replay.max_replay_bytes)
        .then_some(Note::REQUEST_TOO_LARGE_TO_REPLAY)
}

/// Releases memory that a message's buffer has to spare.
///
/// tonic encodes into a buffer of at least 8 KiB, and our own short messages share a page: a waiting call
/// would hold either for a message of a few bytes.
pub fn shrink(message: &mut Bytes) {
    const TONIC_BUFFER: usize = 8 * 1024;
    if message.len() < TONIC_BUFFER {
        *message = Bytes::copy_from_slice(message);
    }
}

/// The body of an attempt: a message in one frame.
#[inline]
pub fn one_frame(message: &Bytes) -> Body {
    Body::new(OneFrame((!message.is_empty()).then(|| message.clone())))
}

/// A body of one frame. It does not say its length beforehand: gRPC has no use for a `content-length`, and
/// tonic sends none.
#[derive(Debug)]
struct OneFrame(Option<Bytes>);

impl http_body::Body for OneFrame {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }
}
