//! A request that can be sent several times.

use super::plan::MethodPlan;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, TE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use http_body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::body::Body;

pub(crate) const TRAILERS: HeaderValue = HeaderValue::from_static("trailers");
pub(crate) const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");

/// The request of one operation. Each attempt is written whole, from what was kept of it.
pub(crate) trait Outgoing {
    /// What the call is made by.
    fn plan(&self) -> &MethodPlan;

    /// The method's path, as reports name it.
    fn path(&self) -> PathAndQuery;

    /// The message with its prefix.
    fn message(&self) -> &Bytes;

    /// The same, to be put elsewhere.
    fn message_mut(&mut self) -> &mut Bytes;

    /// The request of the next attempt.
    fn write(&mut self, timeout: Option<HeaderValue>) -> http::Request<Body>;

    /// The operation starts now: its caller's deadline may leave it less time than its plan.
    fn start(&mut self) {}

    /// Whether it may be sent more than once.
    #[inline]
    fn is_replayable(&self) -> bool {
        // A limit of nothing excludes even a message of nothing.
        self.message().len().max(1) <= self.plan().limits.max_replay_bytes
    }

    /// Lets go of memory that the message's buffer has to spare, before a wait.
    ///
    /// tonic encodes into a buffer of at least 8 KiB, and our own short messages share a page: a waiting call
    /// would hold either for a message of a few bytes.
    fn shrink(&mut self) {
        const TONIC_BUFFER: usize = 8 * 1024;
        if self.message().len() < TONIC_BUFFER {
            *self.message_mut() = Bytes::copy_from_slice(self.message());
        }
    }
}

/// The method's path, as reports name it.
pub(crate) fn path_of(uri: &Uri) -> PathAndQuery {
    uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"))
}

/// The body of an attempt: a message in one frame.
#[inline]
pub(crate) fn body(message: &Bytes) -> Body {
    Body::new(OneFrame((!message.is_empty()).then(|| message.clone())))
}

/// A gRPC request, but for its timeout and its extensions.
#[inline]
pub(crate) fn grpc_request(
    uri: Uri,
    headers: &[(HeaderName, HeaderValue)],
    message: &Bytes,
) -> http::Request<Body> {
    let mut request = http::Request::new(body(message));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    *request.version_mut() = Version::HTTP_2;
    *request.headers_mut() = grpc_headers(headers);
    request
}

/// The headers of a gRPC request, and room for those that the transport adds.
#[inline]
fn grpc_headers(others: &[(HeaderName, HeaderValue)]) -> HeaderMap {
    const OUR_OWN_AND_USER_AGENT: usize = 4;
    let mut headers = HeaderMap::with_capacity(others.len() + OUR_OWN_AND_USER_AGENT);
    headers.insert(TE, TRAILERS);
    headers.insert(CONTENT_TYPE, GRPC);
    for (name, value) in others {
        headers.append(name.clone(), value.clone());
    }
    headers
}

/// A body of one frame. It does not tell its length beforehand: gRPC has no use for a `content-length`, and
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
