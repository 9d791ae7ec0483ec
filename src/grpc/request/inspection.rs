//! What one look at a request shows.

use crate::grpc::methods::timeout::{self, GRPC_TIMEOUT};
use crate::grpc::methods::{GRPC, PREVIOUS_ATTEMPTS, TRAILERS};
use crate::settings::CallOptions;
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderName, HeaderValue, Method, Version};
use std::time::Duration;
use tonic::GrpcMethod;

/// What one look at a request shows.
#[derive(Debug)]
pub(crate) struct Inspection<'a> {
    pub(crate) options: Option<&'a CallOptions>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) compact: Option<CompactParts>,
    /// Whether the caller has set a header that is the operation's own.
    pub(crate) has_count: bool,
}

/// What differs between the requests of tonic clients to a method.
#[derive(Debug)]
pub(crate) struct CompactParts {
    pub(super) method: Option<GrpcMethod<'static>>,
    /// But for the two that all requests have, and the timeout, which is each attempt's own.
    pub(super) headers: Box<[(HeaderName, HeaderValue)]>,
}

impl<'a> Inspection<'a> {
    /// `is_named` keeps tonic's description of the method, for others to see. `counts` is whether attempts tell their
    /// number in a header, which is not the caller's to set then.
    #[expect(clippy::inline_always, reason = "what it finds is large to move (bench `speed`, instructions)")]
    #[inline(always)]
    pub(crate) fn at<B>(request: &'a http::Request<B>, is_named: bool, counts: bool) -> Self {
        let extensions = request.extensions();
        let method = extensions.get::<GrpcMethod<'static>>();
        let mut known = usize::from(method.is_some());
        let mut options = None;
        if extensions.len() > known {
            options = extensions.get::<CallOptions>();
            known += usize::from(options.is_some());
        }
        let (mut timeout, mut headers) = (None, Vec::new());
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
                headers.push((name.clone(), value.clone()));
            }
        }
        let is_compact = te
            && content_type
            && extensions.len() == known
            && request.method() == Method::POST
            && request.version() == Version::HTTP_2;
        let compact = is_compact.then(|| CompactParts {
            method: method.filter(|_| is_named).cloned(),
            headers: headers.into_boxed_slice(),
        });
        Self { options, timeout, compact, has_count }
    }
}
