//! One look at a caller's request.

use crate::grpc::take_over::TakenBy;
use crate::grpc::template::attempt_headers::{GRPC, TRAILERS};
use crate::grpc::template::example_request::ExampleRequest;
use crate::grpc::template::previous_attempts::PREVIOUS_ATTEMPTS;
use crate::grpc::template::timeout::{self, GRPC_TIMEOUT};
use gax_driver::CallOptions;
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderName, HeaderValue, Method, Version};
use std::sync::OnceLock;
use std::time::Duration;
use tonic::GrpcMethod;

/// The headers of a request that others to its method do not have: as a rule there are none.
pub type ExtraHeaders = Option<Box<[(HeaderName, HeaderValue)]>>;

/// The findings of one look at a caller's request.
#[derive(Debug)]
pub(crate) struct Inspection<'a> {
    pub options: Option<&'a CallOptions>,
    pub taken_by: Option<&'a TakenBy>,
    pub timeout: Option<Duration>,
    /// The headers that the example does not have; `None`: more than headers is different.
    pub extra: Option<ExtraHeaders>,
    /// `true` if the caller has set a header that is the operation's own.
    pub has_count: bool,
}

impl<'a> Inspection<'a> {
    /// Looks at a request, and compares it with the example of its method, which the first request of a tonic client sets. If
    /// the operation counts its attempts in a header, that is not the caller's to set. If the request is watched, somebody on
    /// the way may look at its extensions.
    #[inline]
    pub(crate) fn of<B>(
        request: &'a http::Request<B>,
        example: Option<&OnceLock<ExampleRequest>>,
        counts: bool,
        is_watched: bool,
    ) -> Self {
        let extensions = request.extensions();
        let description = extensions.get::<GrpcMethod<'static>>();
        let mut count = usize::from(description.is_some());
        let (mut options, mut taken_by) = (None, None);
        if extensions.len() > count {
            options = extensions.get::<CallOptions>();
            taken_by = extensions.get::<TakenBy>();
            count += usize::from(options.is_some()) + usize::from(taken_by.is_some());
        }
        let (mut timeout, mut extra) = (None, Vec::new());
        let (mut te, mut content_type, mut has_count) = (false, false, false);
        for (name, value) in request.headers() {
            if *name == TE && value.as_bytes() == TRAILERS.as_bytes() {
                te = true;
            } else if *name == CONTENT_TYPE && value.as_bytes() == GRPC.as_bytes() {
                content_type = true;
            } else if *name == GRPC_TIMEOUT {
                timeout = timeout.or_else(|| timeout::parse(value.as_bytes()));
            } else if counts && *name == PREVIOUS_ATTEMPTS {
                has_count = true;
            } else {
                keep(&mut extra, name, value, request.headers().len());
            }
        }
        let is_of_tonic = te
            && content_type
            && extensions.len() == count
            && request.method() == Method::POST
            && request.version() == Version::HTTP_2;
        let is_like = is_of_tonic
            && example.is_some_and(|example| {
                let example = example.get_or_init(|| ExampleRequest::of(request.uri(), description));
                example.is_like(request.uri(), description, is_watched)
            });
        let extra = if extra.is_empty() { None } else { Some(extra.into_boxed_slice()) };
        Self { options, taken_by, timeout, extra: is_like.then_some(extra), has_count }
    }
}

/// Keeps one of at most so many headers.
fn keep(extra: &mut Vec<(HeaderName, HeaderValue)>, name: &HeaderName, value: &HeaderValue, at_most: usize) {
    if extra.is_empty() {
        extra.reserve_exact(at_most);
    }
    extra.push((name.clone(), value.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Uri;

    fn request(uri: &'static str, method: Option<&'static str>) -> http::Request<()> {
        let mut request =
            http::Request::post(Uri::from_static(uri)).version(Version::HTTP_2).body(()).unwrap();
        request.headers_mut().insert(TE, TRAILERS);
        request.headers_mut().insert(CONTENT_TYPE, GRPC);
        if let Some(method) = method {
            request.extensions_mut().insert(GrpcMethod::new("pkg.Service", method));
        }
        request
    }

    #[test]
    fn a_request_is_like_the_first_where_nothing_but_headers_is_different() {
        let example = OnceLock::new();
        for (uri, method, is_watched, expected) in [
            ("/pkg.Service/Get", Some("Get"), true, true),
            ("/pkg.Service/Get", Some("Get"), true, true),
            ("/pkg.Service/Get", None, true, false),
            ("/pkg.Service/Get", None, false, true),
            ("/pkg.Service/Get?a=b", Some("Get"), true, false),
            ("http://host/pkg.Service/Get", Some("Get"), true, false),
            ("/pkg.Service/Get", Some("Got"), true, false),
        ] {
            let mut request = request(uri, method);
            request.headers_mut().insert("x-one", HeaderValue::from_static("1"));
            let extra = Inspection::of(&request, Some(&example), true, is_watched).extra;
            assert_eq!(
                extra.map(|extra| extra.map_or(0, |extra| extra.len())),
                expected.then_some(1),
                "{uri} {method:?} {is_watched}"
            );
            assert!(Inspection::of(&request, None, true, is_watched).extra.is_none());
        }
    }

    #[test]
    fn another_kind_of_request_sets_no_example() {
        let example = OnceLock::new();
        let mut get = request("/pkg.Service/Get", None);
        *get.method_mut() = Method::GET;
        assert!(Inspection::of(&get, Some(&example), true, true).extra.is_none());
        assert!(example.get().is_none());
    }
}
