//! What the requests to a method have in common.

use http::Uri;
use http::uri::{Authority, PathAndQuery};
use std::sync::OnceLock;
use tonic::GrpcMethod;

/// What all requests to a method have, as a rule: where they go, and how tonic describes the method. It is taken over from
/// the first, so that calls keep nothing of their own but what is different (bench `speed`, instructions).
#[derive(Debug, Clone, Default)]
pub(crate) struct Usual {
    first: OnceLock<First>,
}

#[derive(Debug, Clone)]
struct First {
    uri: Uri,
    /// Where that is nothing but a path, over a channel that adds the origin itself.
    path: Option<PathAndQuery>,
    description: Option<GrpcMethod<'static>>,
}

impl Usual {
    /// Whether a request goes where the others go, and whether it is described as they are. The first sets the example.
    #[inline]
    pub(crate) fn compare(&self, uri: &Uri, description: Option<&GrpcMethod<'static>>) -> (bool, bool) {
        let first = self.first.get_or_init(|| First::of(uri, description));
        (first.is_same_uri(uri), first.is_same_method(description))
    }

    /// Whether a request is described as the others are, which goes where they go.
    #[inline]
    pub(crate) fn describes(&self, description: Option<&GrpcMethod<'static>>) -> bool {
        self.first.get().is_some_and(|first| first.is_same_method(description))
    }

    /// Whether a request has the very path that the others have, not only one of the same letters, and goes nowhere else.
    #[cfg(feature = "tables")]
    pub(super) fn is_at(&self, uri: &Uri) -> bool {
        let usual = self.first.get().and_then(|first| first.path.as_ref());
        match (usual, bare_path(uri)) {
            (Some(usual), Some(path)) => std::ptr::eq(usual.as_str(), path.as_str()),
            _ => false,
        }
    }

    /// Where requests go.
    pub(crate) fn uri(&self) -> Option<&Uri> {
        Some(&self.first.get()?.uri)
    }

    /// How requests describe the method.
    pub(crate) fn description(&self) -> Option<&GrpcMethod<'static>> {
        self.first.get()?.description.as_ref()
    }
}

impl First {
    #[cold]
    fn of(uri: &Uri, description: Option<&GrpcMethod<'static>>) -> Self {
        Self { uri: uri.clone(), path: bare_path(uri).cloned(), description: description.cloned() }
    }

    #[inline]
    fn is_same_uri(&self, other: &Uri) -> bool {
        match (&self.path, bare_path(other)) {
            (Some(one), Some(other)) => is_same(one.as_str(), other.as_str()),
            (None, None) => is_written_alike(&self.uri, other),
            _ => false,
        }
    }

    #[inline]
    fn is_same_method(&self, other: Option<&GrpcMethod<'static>>) -> bool {
        match (&self.description, other) {
            (Some(one), Some(other)) => {
                is_same(one.method(), other.method()) && is_same(one.service(), other.service())
            }
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

/// A path without a scheme and an authority.
#[inline]
pub(super) fn bare_path(uri: &Uri) -> Option<&PathAndQuery> {
    if uri.scheme().is_none() && uri.authority().is_none() { uri.path_and_query() } else { None }
}

/// What is the same to HTTP, such as an authority in capitals, may be different to a server.
#[cold]
fn is_written_alike(one: &Uri, other: &Uri) -> bool {
    (one.scheme_str(), one.path(), one.query()) == (other.scheme_str(), other.path(), other.query())
        && one.authority().map(Authority::as_str) == other.authority().map(Authority::as_str)
}

/// In most cases both are the very same constant of generated code.
#[inline]
fn is_same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}
