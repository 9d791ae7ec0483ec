//! The request body for every purpose.

use crate::request::attempt_body::{AttemptBody, CutOff};
use crate::request::replay::Replay;
use bytes::{Bytes, BytesMut};
use gax_wire::__private::BoxError;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

type BoxBody = UnsyncBoxBody<Bytes, BoxError>;
type Opening = Pin<Box<dyn Future<Output = Result<BoxBody, BoxError>> + Send>>;
type Factory = Arc<dyn Fn() -> Stream + Send + Sync>;

/// A stream of bytes, and what opens it, until it has: its body is empty till then.
struct Stream {
    opening: Option<Opening>,
    body: BoxBody,
}

impl Stream {
    fn of<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self { opening: None, body: body.map_err(Into::into).boxed_unsync() }
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let Some(opening) = &mut self.opening else { return Poll::Ready(Ok(())) };
        let opened = ready!(opening.as_mut().poll(cx));
        self.opening = None;
        Poll::Ready(opened.map(|body| self.body = body))
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        match ready!(self.poll_open(cx)) {
            Ok(()) => Pin::new(&mut self.body).poll_frame(cx),
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }

    /// The body, once it is open.
    fn opened(&self) -> Option<&BoxBody> {
        self.opening.is_none().then_some(&self.body)
    }
}

/// The longest frame of a request's body. HTTP/1 clients look whether a call was given up between frames.
const SLICE: usize = 64 * 1024;
/// Frames that are shorter are sent together with the next ones, if these are there. That is the longest frame of
/// HTTP/2.
const SMALL: usize = 16 * 1024;
/// The frames of bytes that are longer are copies. A client queues frames until a server takes them, forever perhaps, and
/// each would keep all of the bytes.
const LONG: usize = 1024 * 1024;

/// A request body for every purpose: bytes, a stream that can be opened again, or a stream that can't.
///
/// It is sent in frames of at most 64 KiB, and ends with its attempt: once that has timed out, failed or lost, or its call was
/// dropped, nothing more is sent of it, and its memory is free. What an HTTP client and the sockets have taken by then may
/// still arrive.
///
/// # Examples
///
/// ```
/// use bytes::{Bytes, BytesMut};
/// use http_body_util::Full;
/// use gax_http::{Replay, ReplayBody};
///
/// let bytes = ReplayBody::from_bytes("{}");
/// assert_eq!(bytes.bytes().as_deref(), Some(&b"{}"[..]));
/// let stream = ReplayBody::from_fn(|| Full::new(Bytes::from_static(b"opened again for each attempt")));
/// assert!(stream.replay().is_some());
/// let once = ReplayBody::once(Full::new(Bytes::from_static(b"from a socket, say")));
/// assert!(once.replay().is_none());
/// ```
#[must_use]
pub struct ReplayBody {
    kind: Kind,
    /// The rest of a frame that was too long.
    rest: Bytes,
    /// `true` if that frame was so long that others are copied from it.
    is_long: bool,
    /// The frame behind small ones that are sent as one.
    behind: Option<Next>,
}

/// The next frame of a body, where it has one.
type Next = Option<Result<Frame<Bytes>, BoxError>>;

enum Kind {
    Bytes(Bytes),
    /// Several pieces in memory.
    Pieces(VecDeque<Bytes>),
    /// A stream that can be read once, or one that is made again.
    Stream {
        make: Option<Factory>,
        current: Option<Stream>,
    },
    /// The body of one attempt.
    Attempt(AttemptBody<ReplayBody>),
}

impl Kind {
    /// The stream that is sent, if it is one; made where it is not yet.
    fn stream(&mut self) -> Option<&mut Stream> {
        let Self::Stream { make, current } = self else { return None };
        if current.is_none() {
            *current = make.as_ref().map(|make| make());
        }
        current.as_mut()
    }
}

impl ReplayBody {
    /// No body.
    pub fn empty() -> Self {
        Self::from_bytes(Bytes::new())
    }

    /// A body of these bytes, which all attempts share.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        Self::of(Kind::Bytes(bytes.into()))
    }

    /// A body of these pieces one after the other, which all attempts share. Preconditions are not looked for in it.
    pub fn from_pieces(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        Self::of(Kind::Pieces(pieces.into_iter().filter(|piece| !piece.is_empty()).collect()))
    }

    /// A stream that the function opens, once for each attempt.
    pub fn from_fn<B>(open: impl Fn() -> B + Send + Sync + 'static) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::made_by(move || Stream::of(open()))
    }

    /// A stream that the function opens once for each attempt. Use it if opening takes time or can fail, for example
    /// for a file or a response that you forward.
    ///
    /// Opening is part of the attempt's time, and nothing is sent before the stream is open. An error ends the
    /// operation, like a request that can't be sent, and is the source of the [`HttpError`](crate::HttpError). If the
    /// body knows its length once it is open, `content-length` is set; otherwise set it on the request yourself if you
    /// know it.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when its attempt's time is up or the call is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::{Bytes, BytesMut};
    /// use http_body_util::Full;
    /// use gax_http::ReplayBody;
    ///
    /// let body = ReplayBody::from_async_fn(|| async {
    ///     let bytes = tokio::task::spawn_blocking(|| std::fs::read("upload.bin")).await??;
    ///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Full::new(Bytes::from(bytes)))
    /// });
    /// # drop(body);
    /// ```
    pub fn from_async_fn<F, B, E>(open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<B, E>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
        E: Into<BoxError> + 'static,
    {
        Self::made_by(move || {
            let body = open();
            let opening = async move { body.await.map(|body| Stream::of(body).body).map_err(Into::into) };
            Stream { opening: Some(Box::pin(opening)), ..Stream::of(Empty::new()) }
        })
    }

    /// A stream that can be read once. The request is then sent once, and the report has a note.
    pub fn once<B>(stream: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::of(Kind::Stream { make: None, current: Some(Stream::of(stream)) })
    }

    fn made_by(make: impl Fn() -> Stream + Send + Sync + 'static) -> Self {
        Self::of(Kind::Stream { make: Some(Arc::new(make)), current: None })
    }

    fn of(kind: Kind) -> Self {
        Self { kind, rest: Bytes::new(), is_long: false, behind: None }
    }
}

impl Default for ReplayBody {
    fn default() -> Self {
        Self::empty()
    }
}

impl Replay for ReplayBody {
    fn replay(&self) -> Option<Self> {
        let kind = match &self.kind {
            Kind::Bytes(bytes) => Kind::Bytes(bytes.clone()),
            Kind::Pieces(pieces) => Kind::Pieces(pieces.clone()),
            Kind::Stream { make, .. } => Kind::Stream { current: Some(make.as_ref()?()), make: make.clone() },
            Kind::Attempt(body) => return body.with(|body| body.replay()).flatten(),
        };
        Some(Self::of(kind))
    }

    fn bytes(&self) -> Option<Bytes> {
        match &self.kind {
            Kind::Bytes(bytes) => Some(bytes.clone()),
            Kind::Pieces(_) | Kind::Stream { .. } => None,
            Kind::Attempt(body) => body.with(|body| body.bytes()).flatten(),
        }
    }

    fn kept(&self) -> usize {
        match &self.kind {
            Kind::Bytes(bytes) => bytes.len(),
            Kind::Pieces(pieces) => pieces.iter().map(Bytes::len).sum(),
            Kind::Stream { .. } => 0,
            Kind::Attempt(body) => body.with(|body| body.kept()).unwrap_or_default(),
        }
    }

    fn cut_off(&mut self) -> Option<CutOff> {
        if self.is_end_stream() {
            return None;
        }
        let body = AttemptBody::new(std::mem::take(self));
        let cut = CutOff::of(body.cut());
        *self = Self::of(Kind::Attempt(body));
        Some(cut)
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.kind.stream().map_or(Poll::Ready(Ok(())), |stream| stream.poll_open(cx))
    }
}

impl ReplayBody {
    /// The next frame as it comes.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        if let Some(behind) = self.behind.take() {
            return Poll::Ready(behind);
        }
        match &mut self.kind {
            Kind::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Bytes(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Kind::Pieces(pieces) => Poll::Ready(pieces.pop_front().map(|piece| Ok(Frame::data(piece)))),
            Kind::Attempt(body) => body.poll_frame(cx),
            kind @ Kind::Stream { .. } => {
                kind.stream().map_or(Poll::Ready(None), |stream| stream.poll_frame(cx))
            }
        }
    }

    /// Small frames that are there already are sent as one: each would be a separate packet, and over HTTP/2 may wait for
    /// an acknowledgement.
    fn join(&mut self, cx: &mut Context<'_>) {
        let mut joined = BytesMut::new();
        while self.behind.is_none() && self.rest.len() + joined.len() < SMALL {
            match self.poll_next(cx) {
                Poll::Ready(Some(Ok(frame))) if frame.data_ref().is_some_and(|data| data.len() < SMALL) => {
                    if joined.is_empty() {
                        joined.extend_from_slice(&std::mem::take(&mut self.rest));
                    }
                    joined.extend_from_slice(&frame.into_data().unwrap_or_default());
                }
                Poll::Ready(behind) => self.behind = Some(behind),
                Poll::Pending => break,
            }
        }
        if !joined.is_empty() {
            self.rest = joined.freeze();
        }
    }
}

impl Body for ReplayBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Kind::Attempt(body) = &mut this.kind {
            return body.poll_frame(cx);
        }
        if this.rest.is_empty() {
            match ready!(this.poll_next(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => {
                    this.is_long = data.len() > LONG;
                    this.rest = data;
                    this.join(cx);
                }
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let slice = this.rest.split_to(this.rest.len().min(SLICE));
        let slice = if this.is_long { Bytes::copy_from_slice(&slice) } else { slice };
        Poll::Ready(Some(Ok(Frame::data(slice))))
    }

    fn is_end_stream(&self) -> bool {
        if let Some(behind) = &self.behind {
            return behind.is_none() && self.rest.is_empty();
        }
        let is_last = match &self.kind {
            Kind::Bytes(bytes) => bytes.is_empty(),
            Kind::Pieces(pieces) => pieces.is_empty(),
            Kind::Stream { current, .. } => {
                current.as_ref().and_then(Stream::opened).is_some_and(Body::is_end_stream)
            }
            Kind::Attempt(body) => return body.is_end_stream(),
        };
        is_last && self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let behind = match &self.behind {
            Some(Some(Ok(frame))) => frame.data_ref().map_or(0, Bytes::len),
            _ => 0,
        };
        let rest = (self.rest.len() + behind) as u64;
        let to_come = match &self.kind {
            Kind::Bytes(_) | Kind::Pieces(_) => SizeHint::with_exact(self.kept() as u64),
            Kind::Stream { current, .. } => {
                current.as_ref().and_then(Stream::opened).map(Body::size_hint).unwrap_or_default()
            }
            Kind::Attempt(body) => return body.size_hint(),
        };
        let mut hint = SizeHint::default();
        hint.set_lower(to_come.lower().saturating_add(rest));
        if let Some(upper) = to_come.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}

impl fmt::Debug for ReplayBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Bytes(_) | Kind::Pieces(_) => {
                return f.debug_tuple("ReplayBody").field(&self.kept()).finish();
            }
            Kind::Stream { make: Some(_), .. } => "from_fn",
            Kind::Stream { make: None, .. } => "once",
            Kind::Attempt(_) => "of an attempt",
        };
        f.debug_tuple("ReplayBody").field(&format_args!("{kind}")).finish()
    }
}
