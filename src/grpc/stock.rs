//! The request of a stock client, kept so that it can be sent again.

use super::deadline::{self, GRPC_TIMEOUT};
use super::intake::{Intake, Read};
use super::outgoing::{GRPC, Outgoing, TRAILERS, body, grpc_request, path_of, shrink, too_large};
use super::plan::MethodPlan;
use crate::operation::Note;
use crate::settings::CallOptions;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, TE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Uri, Version};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tonic::body::Body;
use tonic::{GrpcMethod, Status};

/// A request that came through the layer.
#[derive(Debug)]
pub(crate) struct Stock {
    message: Bytes,
    kept: Kept,
    bound: Option<Duration>,
}

/// What attempts are written from.
#[derive(Debug)]
enum Kept {
    /// Of a stock tonic client's request: in most cases without an allocation.
    Usual { place: Place, usual: Usual },
    /// Any other request.
    Whole(Box<Parts>),
    /// A request that has yet to be read.
    Unread(Box<Unread>),
    /// A stream, which goes out as it comes, once.
    Once(Box<Once>),
}

/// A request whose body has not come to its end.
#[derive(Debug)]
struct Unread {
    request: http::Request<Body>,
    usual: Option<Usual>,
    intake: Intake,
}

/// A request that can't be sent again.
#[derive(Debug)]
struct Once {
    path: PathAndQuery,
    note: Note,
    request: Option<http::Request<Body>>,
}

/// Where a request goes: over a channel that adds the origin itself, nothing but a path.
#[derive(Debug)]
enum Place {
    Path(PathAndQuery),
    Uri(Box<Uri>),
}

impl Place {
    #[inline]
    fn of(uri: &Uri) -> Self {
        match uri.path_and_query() {
            Some(path) if uri.scheme().is_none() && uri.authority().is_none() => Place::Path(path.clone()),
            _ => Place::Uri(Box::new(uri.clone())),
        }
    }

    fn path(&self) -> PathAndQuery {
        match self {
            Place::Path(path) => path.clone(),
            Place::Uri(uri) => path_of(uri),
        }
    }

    fn uri(&self) -> Uri {
        match self {
            Place::Path(path) => Uri::from(path.clone()),
            Place::Uri(uri) => (**uri).clone(),
        }
    }
}

/// What one look at a request shows.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    pub(crate) options: Option<&'a CallOptions>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) usual: Option<Usual>,
}

/// What differs between the requests of stock tonic clients to a method.
#[derive(Debug)]
pub(crate) struct Usual {
    method: Option<GrpcMethod<'static>>,
    /// But for the two that all requests have, and the timeout, which is each attempt's own.
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl<'a> Look<'a> {
    /// `is_named` keeps tonic's description of the method, for others to see.
    #[inline]
    pub(crate) fn at<B>(request: &'a http::Request<B>, is_named: bool) -> Self {
        let extensions = request.extensions();
        let method = extensions.get::<GrpcMethod<'static>>();
        let mut known = usize::from(method.is_some());
        let mut options = None;
        if extensions.len() > known {
            options = extensions.get::<CallOptions>();
            known += usize::from(options.is_some());
        }
        let (mut timeout, mut headers) = (None, Vec::new());
        let (mut te, mut content_type) = (false, false);
        for (name, value) in request.headers() {
            if *name == TE && *value == TRAILERS {
                te = true;
            } else if *name == CONTENT_TYPE && *value == GRPC {
                content_type = true;
            } else if *name == GRPC_TIMEOUT {
                timeout = timeout.or_else(|| deadline::parse(value.as_bytes()));
            } else {
                headers.push((name.clone(), value.clone()));
            }
        }
        let is_usual = te
            && content_type
            && extensions.len() == known
            && request.method() == Method::POST
            && request.version() == Version::HTTP_2;
        let usual = is_usual.then(|| Usual { method: method.filter(|_| is_named).cloned(), headers });
        Self { options, timeout, usual }
    }
}

impl Stock {
    /// Keeps of a request, whose body has been read, what it takes to send it again, if it may be.
    #[inline]
    pub(crate) fn new(
        request: &http::Request<Body>,
        usual: Option<Usual>,
        message: Bytes,
        bound: Option<Duration>,
    ) -> Self {
        let kept = match usual {
            Some(usual) => Kept::Usual { place: Place::of(request.uri()), usual },
            None => Kept::whole(request),
        };
        Self { message, kept, bound }
    }

    /// A request that is read when the operation is polled.
    #[cold]
    pub(crate) fn unread(
        request: http::Request<Body>,
        usual: Option<Usual>,
        intake: Intake,
        bound: Option<Duration>,
    ) -> Self {
        let unread = Unread { request, usual, intake };
        Self { message: Bytes::new(), kept: Kept::Unread(Box::new(unread)), bound }
    }

    /// A request that can't be sent again.
    #[cold]
    pub(crate) fn once(request: &http::Request<Body>, note: Note, bound: Option<Duration>) -> Self {
        let once = Once { path: path_of(request.uri()), note, request: None };
        Self { message: Bytes::new(), kept: Kept::Once(Box::new(once)), bound }
    }

    /// Makes the caller's own request that of the first attempt.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        mut request: http::Request<Body>,
        timeout: Option<HeaderValue>,
    ) -> http::Request<Body> {
        if !matches!(self.kept, Kept::Once(_)) {
            *request.body_mut() = body(&self.message);
        }
        deadline::set_header(request.headers_mut(), timeout);
        request
    }

    /// The body has been read, or shows itself to be a stream.
    fn read(&mut self, unread: Unread, read: &Read) {
        let Unread { mut request, usual, intake } = unread;
        *self = match read {
            Read::Whole => Self::new(&request, usual, intake.into_message(), self.bound),
            Read::Stream(note) => {
                let once = Self::once(&request, *note, self.bound);
                *request.body_mut() = intake.into_body();
                once.holding(request)
            }
        };
    }

    fn holding(mut self, request: http::Request<Body>) -> Self {
        self.put_off(request);
        self
    }
}

impl Outgoing for Stock {
    fn path(&self) -> PathAndQuery {
        match &self.kept {
            Kept::Usual { place, .. } => place.path(),
            Kept::Whole(parts) => path_of(&parts.uri),
            Kept::Unread(unread) => path_of(unread.request.uri()),
            Kept::Once(once) => once.path.clone(),
        }
    }

    #[inline]
    fn bound(&self) -> Option<Duration> {
        self.bound
    }

    fn prepare(&mut self, plan: &MethodPlan, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let Kept::Unread(unread) = &mut self.kept else {
            return Poll::Ready(Ok(()));
        };
        let read = ready!(unread.intake.poll(plan.limits.max_replay_bytes, cx))?;
        let empty = Unread {
            request: http::Request::new(Body::empty()),
            usual: None,
            intake: Intake::of(Body::empty(), true),
        };
        let unread = std::mem::replace(&mut **unread, empty);
        self.read(unread, &read);
        Poll::Ready(Ok(()))
    }

    fn write(&mut self, timeout: Option<HeaderValue>) -> http::Request<Body> {
        let mut request = match &mut self.kept {
            Kept::Whole(parts) => http::Request::from_parts((**parts).clone(), body(&self.message)),
            Kept::Usual { place, usual: Usual { method, headers } } => {
                let mut request = grpc_request(place.uri(), headers, &self.message);
                if let Some(method) = method {
                    request.extensions_mut().insert(method.clone());
                }
                request
            }
            // There is one attempt, and what is unread is never written.
            Kept::Once(once) => once.request.take().unwrap_or_default(),
            Kept::Unread(_) => http::Request::default(),
        };
        deadline::set_header(request.headers_mut(), timeout);
        request
    }

    fn put_off(&mut self, request: http::Request<Body>) {
        if let Kept::Once(once) = &mut self.kept {
            once.request = Some(request);
        }
    }

    #[inline]
    fn note(&self, plan: &MethodPlan) -> Option<Note> {
        match &self.kept {
            Kept::Once(once) => Some(once.note),
            _ => too_large(&self.message, plan),
        }
    }

    fn shrink(&mut self) {
        shrink(&mut self.message);
    }
}

impl Kept {
    #[cold]
    fn whole(request: &http::Request<Body>) -> Self {
        let mut whole = http::Request::new(());
        whole.method_mut().clone_from(request.method());
        whole.uri_mut().clone_from(request.uri());
        *whole.version_mut() = request.version();
        whole.headers_mut().clone_from(request.headers());
        whole.extensions_mut().clone_from(request.extensions());
        Kept::Whole(Box::new(whole.into_parts().0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;

    fn request() -> http::Request<Body> {
        let request = http::Request::post("http://host/pkg.Service/Method")
            .version(Version::HTTP_2)
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .header("grpc-timeout", "1S")
            .header("x-one", "1")
            .header("x-many", "a")
            .header("x-many", "b")
            .extension(GrpcMethod::new("pkg.Service", "Method"));
        request.body(Body::empty()).unwrap()
    }

    fn stock(request: &http::Request<Body>) -> Stock {
        Stock::new(request, Look::at(request, true).usual, Bytes::from_static(b"body"), None)
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
        for uri in ["http://host/pkg.Service/Method", "/pkg.Service/Method", "host:1"] {
            let mut first = request();
            *first.uri_mut() = Uri::from_static(uri);
            written_alike(first);
        }
    }

    fn written_alike(first: http::Request<Body>) {
        let mut stock = stock(&first);
        assert!(matches!(stock.kept, Kept::Usual { .. }));
        let first = stock.complete(first, Some(HeaderValue::from_static("5S")));
        let second = stock.write(Some(HeaderValue::from_static("3S")));
        let third = stock.write(None);
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
    fn what_is_not_usual_is_kept_whole() {
        let mut json = request();
        json.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc+json"));
        let mut old = request();
        *old.version_mut() = Version::HTTP_11;
        let mut get = request();
        *get.method_mut() = Method::GET;
        let mut tagged = request();
        tagged.extensions_mut().insert(7_u32);
        for given in [json, old, get, tagged] {
            let mut stock = stock(&given);
            assert!(matches!(stock.kept, Kept::Whole(_)));
            for _ in 0..2 {
                let written = stock.write(Some(HeaderValue::from_static("1S")));
                assert_eq!(sorted(written.headers()), sorted(given.headers()));
                assert_eq!((written.version(), written.method()), (given.version(), given.method()));
                assert_eq!(written.extensions().get::<u32>(), given.extensions().get());
            }
        }
    }

    #[test]
    fn a_stream_that_waits_goes_out_once() {
        let mut stock = Stock::once(&request(), Note::RequestIsAStream, None);
        let first = stock.complete(request(), Some(HeaderValue::from_static("1S")));
        stock.put_off(first);
        let written = stock.write(Some(HeaderValue::from_static("1S")));
        assert_eq!(sorted(written.headers()), sorted(request().headers()));
        assert_eq!(stock.path(), "/pkg.Service/Method");
    }
}
