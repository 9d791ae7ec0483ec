//! The request of a stock client, kept so that it can be sent again.

use super::deadline::{self, GRPC_TIMEOUT};
use super::outgoing::{GRPC, Outgoing, TRAILERS, body, grpc_request, path_of};
use super::plan::MethodPlan;
use crate::settings::CallOptions;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, TE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Uri, Version};
use std::sync::Arc;
use std::time::Duration;
use tonic::GrpcMethod;
use tonic::body::Body;

/// A request that came through the layer.
#[derive(Debug)]
pub(crate) struct Stock {
    plan: Arc<MethodPlan>,
    message: Bytes,
    kept: Kept,
}

/// What later attempts are written from.
#[derive(Debug)]
enum Kept {
    /// Of a stock tonic client's request: in most cases without an allocation.
    Usual { place: Place, usual: Usual },
    /// Any other request.
    Whole(Box<Parts>),
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
        plan: Arc<MethodPlan>,
        request: &http::Request<Body>,
        usual: Option<Usual>,
        message: Bytes,
    ) -> Self {
        let kept = match usual {
            Some(usual) => Kept::Usual { place: Place::of(request.uri()), usual },
            None => Kept::whole(request),
        };
        Self { plan, message, kept }
    }

    /// Makes the caller's own request that of the first attempt.
    #[inline]
    pub(crate) fn complete(&self, request: &mut http::Request<Body>) {
        *request.body_mut() = body(&self.message);
        deadline::set_header(request.headers_mut(), self.plan.first_timeout.clone());
    }

    /// The caller's own request is to wait.
    pub(crate) fn put_off(&mut self, request: http::Request<Body>) {
        if !self.is_replayable() {
            self.kept = Kept::Whole(Box::new(request.into_parts().0));
        }
    }
}

impl Outgoing for Stock {
    #[inline]
    fn plan(&self) -> &MethodPlan {
        &self.plan
    }

    fn path(&self) -> PathAndQuery {
        match &self.kept {
            Kept::Usual { place, .. } => place.path(),
            Kept::Whole(parts) => path_of(&parts.uri),
        }
    }

    #[inline]
    fn message(&self) -> &Bytes {
        &self.message
    }

    fn message_mut(&mut self) -> &mut Bytes {
        &mut self.message
    }

    fn write(&mut self, timeout: Option<HeaderValue>) -> http::Request<Body> {
        let mut request = match &self.kept {
            Kept::Whole(parts) => http::Request::from_parts((**parts).clone(), body(&self.message)),
            Kept::Usual { place, usual: Usual { method, headers } } => {
                let mut request = grpc_request(place.uri(), headers, &self.message);
                if let Some(method) = method {
                    request.extensions_mut().insert(method.clone());
                }
                request
            }
        };
        deadline::set_header(request.headers_mut(), timeout);
        request
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
    use crate::operation::JitterSeeds;
    use crate::settings::{CallSettings, Limits};
    use gax_retry::{Compatibility, RetrySettings};
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
        let settings = CallSettings::new(RetrySettings::no_retry(Duration::from_secs(5)), []);
        let (limits, jitter) =
            (Limits { max_replay_bytes: 100, ..Limits::default() }, JitterSeeds::default());
        let plan = MethodPlan::new(&settings, Compatibility::Documented, limits, &jitter);
        Stock::new(Arc::new(plan), request, Look::at(request, true).usual, Bytes::from_static(b"body"))
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

    fn written_alike(mut first: http::Request<Body>) {
        let mut stock = stock(&first);
        assert!(matches!(stock.kept, Kept::Usual { .. }));
        stock.complete(&mut first);
        let second = stock.write(Some(HeaderValue::from_static("3S")));
        let third = stock.write(None);
        assert_eq!(first.headers()["grpc-timeout"], "5000000u");
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
    fn a_request_that_waits_loses_nothing() {
        for length in [4, 101] {
            let mut stock = stock(&request());
            stock.message = Bytes::from(vec![0; length]);
            stock.put_off(request());
            let written = stock.write(Some(HeaderValue::from_static("1S")));
            assert_eq!(sorted(written.headers()), sorted(request().headers()));
        }
    }
}
