//! The request that others to its method are like.

use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, Method, Uri, Version};
use tonic::GrpcMethod;
use tonic::body::Body;

/// The request that others to its method are like: they go to the same URI, and tonic describes the method alike. A layer takes it
/// over from the first of them, so that calls keep nothing of their own but headers (bench `speed`, instructions).
#[derive(Debug, Clone)]
pub struct ExampleRequest {
    pub uri: Uri,
    pub description: Option<GrpcMethod<'static>>,
}

impl ExampleRequest {
    #[cold]
    pub fn of(uri: &Uri, description: Option<&GrpcMethod<'static>>) -> Self {
        Self { uri: uri.clone(), description: description.cloned() }
    }

    /// Returns whether a request goes where this one goes, and is described as this one is, if a layer may read that.
    #[inline]
    pub fn is_like(&self, uri: &Uri, description: Option<&GrpcMethod<'static>>, is_watched: bool) -> bool {
        self.has_uri(uri) && (!is_watched || self.is_described_as(description))
    }

    /// Makes a new request like this one, with these headers.
    #[expect(clippy::inline_always, reason = "requests are written in one piece: see the module")]
    #[inline(always)]
    pub fn copy(&self, into: &mut http::Request<Body>, headers: &HeaderMap, is_watched: bool) {
        *into.method_mut() = Method::POST;
        *into.version_mut() = Version::HTTP_2;
        *into.uri_mut() = self.uri.clone();
        *into.headers_mut() = headers.clone();
        if is_watched && let Some(description) = &self.description {
            into.extensions_mut().insert(description.clone());
        }
    }

    #[inline]
    fn has_uri(&self, other: &Uri) -> bool {
        match (bare_path(&self.uri), bare_path(other)) {
            (Some(one), Some(other)) => is_same(one.as_str(), other.as_str()),
            _ => is_written_alike(&self.uri, other),
        }
    }

    #[inline]
    fn is_described_as(&self, other: Option<&GrpcMethod<'static>>) -> bool {
        match (&self.description, other) {
            (Some(one), Some(other)) => {
                is_same(one.method(), other.method()) && is_same(one.service(), other.service())
            }
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

/// A path without an authority, which a scheme is never without.
#[inline]
fn bare_path(uri: &Uri) -> Option<&PathAndQuery> {
    if uri.authority().is_none() { uri.path_and_query() } else { None }
}

/// URIs that are equal to HTTP, such as those with an authority in capitals, may be different to a server.
#[cold]
fn is_written_alike(one: &Uri, other: &Uri) -> bool {
    (one.scheme_str(), one.path(), one.query()) == (other.scheme_str(), other.path(), other.query())
        && one.authority().map(Authority::as_str) == other.authority().map(Authority::as_str)
}

/// In most cases both are one constant of generated code.
#[inline]
fn is_same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}
