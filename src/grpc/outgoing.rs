//! A request that can be sent several times.

use super::deadline::GRPC_TIMEOUT;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, TE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use http_body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::{GrpcMethod, Status};

const TRAILERS: HeaderValue = HeaderValue::from_static("trailers");
const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");

/// The parts of a request, kept so that every attempt is written whole.
#[derive(Debug)]
pub(crate) struct Outgoing {
    source: Source,
    body: Bytes,
    replayable: bool,
}

/// What the next attempt is made of.
#[derive(Debug)]
enum Source {
    /// The caller's own request, which the first attempt takes.
    Given(Parts),
    Saved(Saved),
}

/// What is put aside of a request, in the usual case without an allocation.
#[derive(Debug)]
struct Saved {
    method: Method,
    uri: Uri,
    version: Version,
    headers: SavedHeaders,
    extensions: SavedExtensions,
}

impl Saved {
    #[inline]
    fn of(parts: &Parts, replayable: bool) -> Self {
        let (headers, extensions) = if replayable {
            (SavedHeaders::of(&parts.headers), SavedExtensions::of(&parts.extensions))
        } else {
            (SavedHeaders::default(), SavedExtensions::None)
        };
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        Self { method, uri, version: parts.version, headers, extensions }
    }

    fn restored(&self, body: Body) -> http::Request<Body> {
        let mut request = http::Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.version_mut() = self.version;
        *request.headers_mut() = self.headers.restored();
        *request.extensions_mut() = self.extensions.restored();
        request
    }
}

impl Outgoing {
    /// A request of these parts. `replayable` says whether it may be sent more than once.
    #[inline]
    pub(crate) fn new(parts: Parts, body: Bytes, replayable: bool) -> Self {
        Self { source: Source::Given(parts), body, replayable }
    }

    /// A gRPC request of a generated client, with the caller's metadata and extensions, and `method` among
    /// them.
    pub(crate) fn grpc(
        uri: Uri,
        metadata: HeaderMap,
        mut extensions: Extensions,
        method: Option<GrpcMethod<'static>>,
        body: Bytes,
    ) -> Self {
        let extensions = match method {
            Some(method) if extensions.is_empty() => SavedExtensions::Method(method),
            None if extensions.is_empty() => SavedExtensions::None,
            method => {
                method.and_then(|method| extensions.insert(method));
                SavedExtensions::All(Box::new(extensions))
            }
        };
        let headers = SavedHeaders { is_grpc: true, others: SavedHeaders::others(metadata) };
        let saved = Saved { method: Method::POST, uri, version: Version::HTTP_2, headers, extensions };
        Self { source: Source::Saved(saved), body, replayable: true }
    }

    /// The same, to be sent once only.
    pub(crate) fn replayable(mut self, replayable: bool) -> Self {
        self.replayable = replayable;
        self
    }

    #[inline]
    pub(crate) fn is_replayable(&self) -> bool {
        self.replayable
    }

    pub(crate) fn path(&self) -> PathAndQuery {
        match &self.source {
            Source::Given(parts) => path_of(&parts.uri),
            Source::Saved(saved) => path_of(&saved.uri),
        }
    }

    /// The request of the next attempt.
    #[inline]
    pub(crate) fn write(&mut self, timeout: Option<HeaderValue>) -> http::Request<Body> {
        let body = Body::new(OneFrame::of(&self.body));
        let mut request = match &self.source {
            Source::Saved(saved) => saved.restored(body),
            Source::Given(parts) => {
                let saved = Saved::of(parts, self.replayable);
                match std::mem::replace(&mut self.source, Source::Saved(saved)) {
                    Source::Given(parts) => http::Request::from_parts(parts, body),
                    Source::Saved(saved) => saved.restored(body),
                }
            }
        };
        match timeout {
            Some(timeout) => drop(request.headers_mut().insert(GRPC_TIMEOUT, timeout)),
            None => drop(request.headers_mut().remove(GRPC_TIMEOUT)),
        }
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

/// Headers put aside. The two that every gRPC request has are not worth keeping, and the timeout is each
/// attempt's own.
#[derive(Debug, Default)]
struct SavedHeaders {
    is_grpc: bool,
    others: Vec<(HeaderName, HeaderValue)>,
}

impl SavedHeaders {
    #[inline]
    fn of(headers: &HeaderMap) -> Self {
        let mut others = Vec::new();
        let (mut te, mut content_type) = (false, false);
        for (name, value) in headers {
            match name {
                name if name == TE && value == TRAILERS => te = true,
                name if name == CONTENT_TYPE && value == GRPC => content_type = true,
                name if name == GRPC_TIMEOUT => {}
                name => others.push((name.clone(), value.clone())),
            }
        }
        let is_grpc = te && content_type;
        if te && !is_grpc {
            others.push((TE, TRAILERS));
        }
        if content_type && !is_grpc {
            others.push((CONTENT_TYPE, GRPC));
        }
        Self { is_grpc, others }
    }

    /// What a caller's metadata adds to the headers of a gRPC request, but for what gRPC keeps for itself.
    fn others(metadata: HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
        const RESERVED: [HeaderName; 6] = [
            TE,
            CONTENT_TYPE,
            GRPC_TIMEOUT,
            Status::GRPC_STATUS,
            Status::GRPC_MESSAGE,
            HeaderName::from_static("grpc-message-type"),
        ];
        if metadata.is_empty() {
            return Vec::new();
        }
        let mut others: Vec<(HeaderName, HeaderValue)> = Vec::with_capacity(metadata.len());
        let mut is_reserved = false;
        for (name, value) in metadata {
            // Of several values of a name only the first comes with the name.
            let name = match name {
                Some(name) => {
                    is_reserved = RESERVED.contains(&name);
                    name
                }
                None => match others.last() {
                    Some((name, _)) => name.clone(),
                    None => continue,
                },
            };
            if !is_reserved {
                others.push((name, value));
            }
        }
        others
    }

    fn restored(&self) -> HeaderMap {
        // Room for the two standard headers and the timeout.
        let mut headers = HeaderMap::with_capacity(self.others.len() + 3);
        if self.is_grpc {
            headers.insert(TE, TRAILERS);
            headers.insert(CONTENT_TYPE, GRPC);
        }
        for (name, value) in &self.others {
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
    #[inline]
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

    fn request() -> Parts {
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
