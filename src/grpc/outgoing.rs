//! A request that can be sent several times.

use super::deadline::GRPC_TIMEOUT;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, TE};
use http::uri::PathAndQuery;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use http_body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::GrpcMethod;
use tonic::body::Body;

const TRAILERS: HeaderValue = HeaderValue::from_static("trailers");
const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");

/// The parts of a request, kept so that every attempt is written whole.
///
/// The first attempt takes the headers and extensions that the caller made. What the next one needs of
/// them is put aside before, without an allocation in the usual case.
#[derive(Debug)]
pub(crate) struct Outgoing {
    method: Method,
    uri: Uri,
    version: Version,
    headers: Option<HeaderMap>,
    saved_headers: SavedHeaders,
    extensions: Option<Extensions>,
    saved_extensions: SavedExtensions,
    body: Bytes,
    replayable: bool,
}

impl Outgoing {
    /// A request of these parts. `replayable` says whether it may be sent more than once.
    pub(crate) fn new(parts: http::request::Parts, body: Bytes, replayable: bool) -> Self {
        let http::request::Parts { method, uri, version, mut headers, extensions, .. } = parts;
        headers.remove(GRPC_TIMEOUT);
        let (saved_headers, saved_extensions) = if replayable {
            (SavedHeaders::of(&headers), SavedExtensions::of(&extensions))
        } else {
            (SavedHeaders::default(), SavedExtensions::None)
        };
        Self {
            method,
            uri,
            version,
            headers: Some(headers),
            saved_headers,
            extensions: Some(extensions),
            saved_extensions,
            body,
            replayable,
        }
    }

    /// A gRPC request of a generated client.
    pub(crate) fn grpc(
        uri: Uri,
        mut headers: HeaderMap,
        extensions: Extensions,
        body: Bytes,
        replayable: bool,
    ) -> Self {
        headers.insert(TE, TRAILERS);
        headers.insert(CONTENT_TYPE, GRPC);
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.method = Method::POST;
        parts.uri = uri;
        parts.version = Version::HTTP_2;
        parts.headers = headers;
        parts.extensions = extensions;
        Self::new(parts, body, replayable)
    }

    pub(crate) fn is_replayable(&self) -> bool {
        self.replayable
    }

    pub(crate) fn path(&self) -> PathAndQuery {
        path_of(&self.uri)
    }

    /// The request of the next attempt.
    pub(crate) fn write(&mut self, timeout: Option<HeaderValue>) -> http::Request<Body> {
        let mut headers = self.headers.take().unwrap_or_else(|| self.saved_headers.restored());
        if let Some(timeout) = timeout {
            headers.insert(GRPC_TIMEOUT, timeout);
        }
        let mut request = http::Request::new(Body::new(OneFrame::of(&self.body)));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.version_mut() = self.version;
        *request.headers_mut() = headers;
        *request.extensions_mut() =
            self.extensions.take().unwrap_or_else(|| self.saved_extensions.restored());
        request
    }

    /// Lets go of memory that the body's buffer has to spare, before a wait.
    ///
    /// tonic encodes into a buffer of at least 8 KiB, which a waiting call would hold for a request of a
    /// few bytes.
    pub(crate) fn shrink(&mut self) {
        const TONIC_BUFFER: usize = 8 * 1024;
        if self.body.len() < TONIC_BUFFER {
            self.body = Bytes::copy_from_slice(&self.body);
        }
    }
}

/// The method's path, as reports name it.
pub(crate) fn path_of(uri: &Uri) -> PathAndQuery {
    uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"))
}

/// A body of one frame. It does not tell its length beforehand: gRPC has no use for a `content-length`, and
/// tonic sends none.
#[derive(Debug)]
struct OneFrame(Option<Bytes>);

impl OneFrame {
    fn of(bytes: &Bytes) -> Self {
        Self((!bytes.is_empty()).then(|| bytes.clone()))
    }
}

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

/// Headers put aside. The two that every gRPC request has are not worth keeping.
#[derive(Debug, Default)]
struct SavedHeaders {
    is_grpc: bool,
    first: [Option<(HeaderName, HeaderValue)>; 2],
    rest: Vec<(HeaderName, HeaderValue)>,
}

impl SavedHeaders {
    fn of(headers: &HeaderMap) -> Self {
        let is_grpc = headers.get(TE) == Some(&TRAILERS) && headers.get(CONTENT_TYPE) == Some(&GRPC);
        let mut saved = Self { is_grpc, ..Self::default() };
        let mut slots = saved.first.iter_mut();
        for (name, value) in headers {
            if is_grpc && (name == TE || name == CONTENT_TYPE) {
                continue;
            }
            let kept = (name.clone(), value.clone());
            match slots.next() {
                Some(slot) => *slot = Some(kept),
                None => saved.rest.push(kept),
            }
        }
        saved
    }

    fn restored(&self) -> HeaderMap {
        // Room for the two standard headers and the timeout.
        let mut headers = HeaderMap::with_capacity(self.first.iter().flatten().count() + self.rest.len() + 3);
        if self.is_grpc {
            headers.insert(TE, TRAILERS);
            headers.insert(CONTENT_TYPE, GRPC);
        }
        for (name, value) in self.first.iter().flatten().chain(&self.rest) {
            headers.append(name.clone(), value.clone());
        }
        headers
    }
}

/// Extensions put aside. Stock tonic clients put a [`GrpcMethod`] into every request; to clone that alone is
/// free, while to clone a whole map is not.
#[derive(Debug)]
enum SavedExtensions {
    None,
    Method(GrpcMethod<'static>),
    All(Box<Extensions>),
}

impl SavedExtensions {
    fn of(extensions: &Extensions) -> Self {
        match (extensions.len(), extensions.get::<GrpcMethod<'static>>()) {
            (0, _) => SavedExtensions::None,
            (1, Some(method)) => SavedExtensions::Method(method.clone()),
            _ => SavedExtensions::All(Box::new(extensions.clone())),
        }
    }

    fn restored(&self) -> Extensions {
        match self {
            SavedExtensions::None => Extensions::new(),
            SavedExtensions::Method(method) => {
                let mut extensions = Extensions::new();
                extensions.insert(method.clone());
                extensions
            }
            SavedExtensions::All(all) => (**all).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> http::request::Parts {
        let request = http::Request::post("http://host/pkg.Service/Method")
            .version(Version::HTTP_2)
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .header("grpc-timeout", "1S")
            .header("x-one", "1")
            .header("x-many", "a")
            .header("x-many", "b")
            .extension(GrpcMethod::new("pkg.Service", "Method"));
        request.body(()).unwrap().into_parts().0
    }

    fn sorted(headers: &HeaderMap) -> Vec<(String, String)> {
        let mut list: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        list.sort();
        list
    }

    #[test]
    fn every_attempt_is_written_alike_but_for_its_timeout() {
        let mut outgoing = Outgoing::new(request(), Bytes::from_static(b"body"), true);
        let first = outgoing.write(Some(HeaderValue::from_static("5S")));
        let second = outgoing.write(Some(HeaderValue::from_static("3S")));
        let third = outgoing.write(None);
        assert_eq!(first.headers()["grpc-timeout"], "5S");
        assert_eq!(second.headers()["grpc-timeout"], "3S");
        assert!(!third.headers().contains_key("grpc-timeout"));
        for other in [&second, &third] {
            assert_eq!(other.uri(), first.uri());
            assert_eq!(other.method(), first.method());
            assert_eq!(other.version(), first.version());
            let mut ours = other.headers().clone();
            let mut theirs = first.headers().clone();
            ours.remove("grpc-timeout");
            theirs.remove("grpc-timeout");
            assert_eq!(sorted(&ours), sorted(&theirs));
            assert_eq!(other.extensions().get::<GrpcMethod<'static>>().unwrap().method(), "Method");
        }
    }

    #[test]
    fn another_content_type_is_kept() {
        let mut parts = request();
        parts.headers.insert("content-type", HeaderValue::from_static("application/grpc+json"));
        let mut outgoing = Outgoing::new(parts, Bytes::new(), true);
        let first = sorted(outgoing.write(None).headers());
        assert_eq!(first[0], ("content-type".to_owned(), "application/grpc+json".to_owned()));
        assert_eq!(sorted(outgoing.write(None).headers()), first);
    }

    #[test]
    fn extensions_of_any_kind_reach_every_attempt() {
        let mut parts = request();
        parts.extensions.insert(7_u32);
        let mut outgoing = Outgoing::new(parts, Bytes::new(), true);
        for _ in 0..3 {
            assert_eq!(outgoing.write(None).extensions().get::<u32>(), Some(&7));
        }
    }
}
