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
    description: Option<GrpcMethod<'static>>,
}

impl Usual {
    /// Whether a request goes where the others go, and whether it is described as they are. The first sets the example.
    #[inline]
    pub(crate) fn compare(&self, uri: &Uri, description: Option<&GrpcMethod<'static>>) -> (bool, bool) {
        let first = self.first.get_or_init(|| First { uri: uri.clone(), description: description.cloned() });
        (is_same_uri(&first.uri, uri), is_same_method(first.description.as_ref(), description))
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

/// As they are written: what is the same to HTTP, such as an authority in capitals, may be different to a server.
#[inline]
fn is_same_uri(one: &Uri, other: &Uri) -> bool {
    let path = PathAndQuery::as_str;
    is_same(one.path_and_query().map(path), other.path_and_query().map(path))
        && is_same(one.scheme_str(), other.scheme_str())
        && is_same(one.authority().map(Authority::as_str), other.authority().map(Authority::as_str))
}

#[inline]
fn is_same_method(one: Option<&GrpcMethod<'static>>, other: Option<&GrpcMethod<'static>>) -> bool {
    is_same(one.map(GrpcMethod::method), other.map(GrpcMethod::method))
        && is_same(one.map(GrpcMethod::service), other.map(GrpcMethod::service))
}

/// In most cases both are the very same constant of generated code.
#[inline]
fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one, other) || one == other,
        (one, other) => one.is_none() && other.is_none(),
    }
}
