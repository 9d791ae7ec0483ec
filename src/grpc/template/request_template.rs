//! A request except for its body and the headers that differ from attempt to attempt.

use crate::grpc::template::attempt_headers::{AttemptHeaders, AttemptTimeout};
use crate::grpc::template::example_request::ExampleRequest;
use crate::grpc::template::inspection::ExtraHeaders;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Extensions, HeaderName, Uri};
use tonic::GrpcMethod;
use tonic::body::Body;

/// A request except for its body and the headers that differ from attempt to attempt.
#[derive(Debug)]
pub enum Template {
    /// It is like the others to its method, except for these headers.
    Example(ExtraHeaders),
    /// Any other request.
    Whole(Box<Parts>),
}

/// A request that is like the others to its method.
pub static LIKE_EXAMPLE: Template = Template::Example(None);

impl Template {
    /// The template of a request, given the headers that it has in addition to those of the example; `None`: it is not
    /// like that.
    #[inline]
    pub fn of(request: &http::Request<Body>, extra: Option<ExtraHeaders>) -> Self {
        extra.map_or_else(|| Self::whole(request), Self::Example)
    }

    #[cold]
    fn whole(request: &http::Request<Body>) -> Self {
        let mut whole = http::Request::new(());
        whole.method_mut().clone_from(request.method());
        whole.uri_mut().clone_from(request.uri());
        *whole.version_mut() = request.version();
        whole.headers_mut().clone_from(request.headers());
        whole.extensions_mut().clone_from(request.extensions());
        Self::Whole(Box::new(whole.into_parts().0))
    }

    /// Attempts from now on go without that header.
    #[cold]
    pub fn remove(&mut self, name: &HeaderName) {
        match self {
            Self::Example(extra) => {
                let kept: Box<[_]> =
                    extra.take().into_iter().flatten().filter(|(other, _)| other != name).collect();
                *extra = (!kept.is_empty()).then_some(kept);
            }
            Self::Whole(parts) => drop(parts.headers.remove(name)),
        }
    }

    /// The method's path, as reports name it.
    pub fn path(&self, example: Option<&ExampleRequest>) -> PathAndQuery {
        let uri = match self {
            Self::Example(_) => example.map(|example| &example.uri),
            Self::Whole(parts) => Some(&parts.uri),
        };
        uri.map_or_else(|| PathAndQuery::from_static("/"), path_of)
    }

    /// Returns whether tonic's generated code has named the method: the number of such names is bounded.
    pub fn is_described(&self, example: Option<&ExampleRequest>) -> bool {
        match self {
            Self::Example(_) => example.is_some_and(|example| example.description.is_some()),
            Self::Whole(parts) => is_described(&parts.extensions),
        }
    }

    /// Writes an attempt's request, except for its body. The first attempt goes into the caller's own request, which lacks only
    /// the headers that are the attempt's own; every other goes into a new one, which has no headers at all.
    #[expect(clippy::inline_always, reason = "requests are written in one piece: see the module")]
    #[inline(always)]
    pub fn write(
        &self,
        into: &mut http::Request<Body>,
        example: Option<&ExampleRequest>,
        headers: &AttemptHeaders,
        attempt: u32,
        timeout: AttemptTimeout,
        is_watched: bool,
    ) {
        let is_new = into.headers().is_empty();
        let is_prepared = is_new && self.copy(into, example, headers, attempt, is_watched);
        headers.set(into.headers_mut(), attempt, timeout, is_prepared);
    }

    /// Makes a new request like the caller's own. Returns whether it has the headers of its attempt as well. If it is watched,
    /// somebody on the way may look at its extensions.
    #[expect(clippy::inline_always, reason = "requests are written in one piece: see the module")]
    #[inline(always)]
    fn copy(
        &self,
        into: &mut http::Request<Body>,
        example: Option<&ExampleRequest>,
        headers: &AttemptHeaders,
        attempt: u32,
        is_watched: bool,
    ) -> bool {
        match (self, example) {
            (Self::Example(extra), Some(example)) => {
                example.copy(into, headers.prepared(attempt), is_watched);
                for (name, value) in extra.iter().flatten() {
                    headers.put_over(into.headers_mut(), name, value);
                }
                true
            }
            (Self::Whole(parts), _) => {
                *into = http::Request::from_parts((**parts).clone(), Body::empty());
                false
            }
            (Self::Example(_), None) => false,
        }
    }
}

/// Returns whether tonic's generated code has named the method of a request.
pub(crate) fn is_described(extensions: &Extensions) -> bool {
    extensions.get::<GrpcMethod<'static>>().is_some()
}

/// The method's path, as reports name it.
pub(crate) fn path_of(uri: &Uri) -> PathAndQuery {
    uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"))
}
