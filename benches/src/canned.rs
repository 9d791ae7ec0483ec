//! A service in this process that replies without work of its own.

use crate::message;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body::{Body as HttpBody, Frame};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

const CONTENT_TYPE: HeaderName = HeaderName::from_static("content-type");
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// Reads each request to its end and replies from memory.
#[derive(Debug, Clone)]
pub struct Canned {
    failures: Failures,
    pends: bool,
    shared: Arc<Shared>,
}

/// The part that all clones share: a clone counts one reference, a reply on its way another, and its message one.
#[derive(Debug)]
struct Shared {
    reply: Bytes,
    attempts: AtomicU32,
    /// The bytes of the requests that were read.
    bytes: AtomicUsize,
}

/// The attempts that fail.
#[derive(Debug, Clone, Copy)]
enum Failures {
    /// So many of each call.
    OfEach(u32),
    /// So many, whose ever they are.
    First(u32),
}

impl Canned {
    /// Replies every attempt well.
    #[must_use]
    pub fn new() -> Self {
        let reply = message::framed(&message::payload(message::SMALL));
        let shared = Arc::new(Shared { reply, attempts: AtomicU32::new(0), bytes: AtomicUsize::new(0) });
        Self { failures: Failures::OfEach(0), pends: false, shared }
    }

    /// Replies so many attempts of each call with UNAVAILABLE, and the one after them well.
    #[must_use]
    pub fn failing(self, failures: u32) -> Self {
        Self { failures: Failures::OfEach(failures), ..self }
    }

    /// Replies so many attempts with UNAVAILABLE, whose ever they are, and all others well.
    #[must_use]
    pub fn failing_first(self, attempts: u32) -> Self {
        Self { failures: Failures::First(attempts), ..self }
    }

    /// Replies when it is polled the second time, rather than the first.
    #[must_use]
    pub fn pending_once(self) -> Self {
        Self { pends: true, ..self }
    }

    /// How many attempts it has seen.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.shared.attempts.load(Ordering::Relaxed)
    }

    /// Makes sure that each attempt has sent all of a message of that length.
    ///
    /// # Panics
    ///
    /// Panics if it has read fewer bytes, or more.
    pub fn assert_sent(&self, length: usize) {
        let expected = usize::try_from(self.attempts()).map(|attempts| attempts * (length + message::PREFIX));
        assert_eq!(
            Ok(self.shared.bytes.load(Ordering::Relaxed)),
            expected,
            "bytes of {} attempts",
            self.attempts()
        );
    }
}

impl Default for Canned {
    fn default() -> Self {
        Self::new()
    }
}

impl Service<http::Request<Body>> for Canned {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let attempt = self.shared.attempts.fetch_add(1, Ordering::Relaxed);
        let is_good = match self.failures {
            Failures::OfEach(0) => true,
            Failures::OfEach(u32::MAX) => false,
            Failures::OfEach(failures) => attempt % (failures + 1) == failures,
            Failures::First(failures) => attempt >= failures,
        };
        // A transport is done with the head once it has written it.
        let request = Some(request.into_body());
        Reply { request, is_good, pends: self.pends, shared: Arc::clone(&self.shared) }
    }
}

/// A reply on its way.
#[derive(Debug)]
pub struct Reply {
    request: Option<Body>,
    is_good: bool,
    pends: bool,
    shared: Arc<Shared>,
}

impl Future for Reply {
    type Output = Result<http::Response<Body>, Status>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // A transport stops reading at the end of the stream.
        while let Some(request) = &mut self.request {
            let frame = ready!(Pin::new(&mut *request).poll_frame(cx)).transpose()?;
            let (is_last, data) = (request.is_end_stream(), frame.and_then(|frame| frame.into_data().ok()));
            if is_last || data.is_none() {
                self.request = None;
            }
            self.shared.bytes.fetch_add(data.map_or(0, |data| data.len()), Ordering::Relaxed);
        }
        if std::mem::take(&mut self.pends) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.is_good {
            let (data, trailers) = (Some(self.shared.reply.clone()), Some(good_trailers()));
            return Poll::Ready(Ok(response(Body::new(ReplyBody { data, trailers }))));
        }
        let mut response = response(Body::empty());
        response.headers_mut().insert(GRPC_STATUS, HeaderValue::from_static("14"));
        response.headers_mut().insert(GRPC_MESSAGE, HeaderValue::from_static("try again"));
        Poll::Ready(Ok(response))
    }
}

/// The head of a response, with this body.
pub(crate) fn response(body: Body) -> http::Response<Body> {
    let mut response = http::Response::new(body);
    *response.version_mut() = http::Version::HTTP_2;
    *response.headers_mut() = HeaderMap::with_capacity(4);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

/// The trailers of a success.
pub(crate) fn good_trailers() -> HeaderMap {
    let mut trailers = HeaderMap::with_capacity(2);
    trailers.insert(GRPC_STATUS, HeaderValue::from_static("0"));
    trailers
}

/// One message, and the trailers of a success.
#[derive(Debug, Default)]
pub(crate) struct ReplyBody {
    pub(crate) data: Option<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let data = self.data.take().map(Frame::data);
        Poll::Ready(data.or_else(|| self.trailers.take().map(Frame::trailers)).map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none() && self.trailers.is_none()
    }
}
