//! Request bodies that can be sent more than once.

use crate::http::BoxError;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, Empty, Full};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// A request body that can be made once more, from its beginning, for another attempt.
///
/// Bodies in memory can ([`Full`], [`Empty`], [`String`]); for streams there is [`ReplayBody`]. It is the one
/// to use for long bodies in memory too: [`Full`] and [`String`] are sent as one frame, all of which an HTTP/1
/// client goes on sending after the call was given up.
pub trait Replay: Body + Sized {
    /// The body from its beginning; `None` if it can be sent once only.
    fn replay(&self) -> Option<Self>;

    /// All of it, where it is in memory. Preconditions are looked for in it (an `etag`, for one), and
    /// its length is held against the replay limit.
    fn bytes(&self) -> Option<Bytes> {
        None
    }
}

impl Replay for Full<Bytes> {
    fn replay(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn bytes(&self) -> Option<Bytes> {
        let mut copy = self.clone();
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut copy).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
            Poll::Ready(None) => Some(Bytes::new()),
            Poll::Ready(Some(Err(never))) => match never {},
            Poll::Pending => None,
        }
    }
}

impl Replay for Empty<Bytes> {
    fn replay(&self) -> Option<Self> {
        Some(*self)
    }

    fn bytes(&self) -> Option<Bytes> {
        Some(Bytes::new())
    }
}

impl Replay for String {
    fn replay(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn bytes(&self) -> Option<Bytes> {
        Some(Bytes::copy_from_slice(self.as_bytes()))
    }
}

type Stream = Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>;
type Factory = Arc<dyn Fn() -> Stream + Send + Sync>;

/// The longest frame of a request's body. HTTP/1 clients look whether a call was given up between frames.
const SLICE: usize = 64 * 1024;

/// A request body for every purpose: bytes, a stream that can be opened again, or a stream that can't.
///
/// It is sent in frames of at most 64 KiB, so that an upload that is given up, because it timed out or its call
/// was dropped, stops soon. What an HTTP client and the sockets have taken by then may still arrive.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use http_body_util::Full;
/// use tonic_gax::{Replay, ReplayBody};
///
/// let bytes = ReplayBody::from_bytes("{}");
/// assert_eq!(bytes.bytes().as_deref(), Some(&b"{}"[..]));
/// let stream = ReplayBody::from_fn(|| Full::new(Bytes::from_static(b"opened anew for each attempt")));
/// assert!(stream.replay().is_some());
/// let once = ReplayBody::once(Full::new(Bytes::from_static(b"from a socket, say")));
/// assert!(once.replay().is_none());
/// ```
pub struct ReplayBody {
    kind: Kind,
    /// What is left of a frame that was too long.
    rest: Bytes,
}

enum Kind {
    Bytes(Bytes),
    Factory { make: Factory, current: Option<Stream> },
    Once(Stream),
}

impl ReplayBody {
    /// No body.
    #[must_use]
    pub fn empty() -> Self {
        Self::from_bytes(Bytes::new())
    }

    /// A body of these bytes, which all attempts share.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        Self::of(Kind::Bytes(bytes.into()))
    }

    /// A stream that the function opens, once for each attempt.
    #[must_use]
    pub fn from_fn<B>(open: impl Fn() -> B + Send + Sync + 'static) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let make = Arc::new(move || boxed(open()));
        Self::of(Kind::Factory { make, current: None })
    }

    /// A stream that can be read once. The request is sent once then, and the report says so.
    #[must_use]
    pub fn once<B>(stream: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::of(Kind::Once(boxed(stream)))
    }

    fn of(kind: Kind) -> Self {
        Self { kind, rest: Bytes::new() }
    }
}

fn boxed<B>(body: B) -> Stream
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    Box::pin(body.map_err(Into::into))
}

impl Default for ReplayBody {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<Bytes> for ReplayBody {
    fn from(bytes: Bytes) -> Self {
        Self::from_bytes(bytes)
    }
}

impl From<String> for ReplayBody {
    fn from(text: String) -> Self {
        Self::from_bytes(text)
    }
}

impl From<&'static str> for ReplayBody {
    fn from(text: &'static str) -> Self {
        Self::from_bytes(text)
    }
}

impl Replay for ReplayBody {
    fn replay(&self) -> Option<Self> {
        let kind = match &self.kind {
            Kind::Bytes(bytes) => Kind::Bytes(bytes.clone()),
            Kind::Factory { make, .. } => Kind::Factory { make: Arc::clone(make), current: Some(make()) },
            Kind::Once(_) => return None,
        };
        Some(Self::of(kind))
    }

    fn bytes(&self) -> Option<Bytes> {
        match &self.kind {
            Kind::Bytes(bytes) => Some(bytes.clone()),
            Kind::Factory { .. } | Kind::Once(_) => None,
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
        if this.rest.is_empty() {
            let frame = match &mut this.kind {
                Kind::Bytes(bytes) if bytes.is_empty() => None,
                Kind::Bytes(bytes) => Some(Ok(Frame::data(std::mem::take(bytes)))),
                Kind::Factory { make, current } => {
                    ready!(current.get_or_insert_with(|| make()).as_mut().poll_frame(cx))
                }
                Kind::Once(stream) => ready!(stream.as_mut().poll_frame(cx)),
            };
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => this.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let slice = this.rest.split_to(this.rest.len().min(SLICE));
        Poll::Ready(Some(Ok(Frame::data(slice))))
    }

    fn is_end_stream(&self) -> bool {
        let is_last = match &self.kind {
            Kind::Bytes(bytes) => bytes.is_empty(),
            Kind::Factory { current, .. } => current.as_ref().is_some_and(Body::is_end_stream),
            Kind::Once(stream) => stream.is_end_stream(),
        };
        is_last && self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let to_come = match &self.kind {
            Kind::Bytes(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Factory { current, .. } => current.as_ref().map(Body::size_hint).unwrap_or_default(),
            Kind::Once(stream) => stream.size_hint(),
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
            Kind::Bytes(bytes) => return f.debug_tuple("ReplayBody").field(&bytes.len()).finish(),
            Kind::Factory { .. } => "from_fn",
            Kind::Once(_) => "once",
        };
        f.debug_tuple("ReplayBody").field(&format_args!("{kind}")).finish()
    }
}
