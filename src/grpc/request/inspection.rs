//! What one look at a request shows.

use super::own_parts::{FoundParts, Known, OwnParts};
use crate::grpc::methods::timeout::{self, GRPC_TIMEOUT};
use crate::grpc::methods::{GRPC, MethodPlan, PREVIOUS_ATTEMPTS, TRAILERS};
use crate::settings::CallOptions;
use http::header::{CONTENT_TYPE, TE};
use http::{Method, Version};
use std::time::Duration;
use tonic::GrpcMethod;

/// What one look at a request shows.
#[derive(Debug)]
pub(crate) struct Inspection<'a> {
    pub(crate) options: Option<&'a CallOptions>,
    pub(crate) timeout: Option<Duration>,
    /// What is different of the request of a tonic client; `None`: it is none of those.
    pub(crate) own: Option<OwnParts>,
    /// Whether the caller has set a header that is the operation's own.
    pub(crate) has_count: bool,
}

impl<'a> Inspection<'a> {
    /// Where attempts tell their number in a header, that is not the caller's to set.
    #[expect(clippy::inline_always, reason = "what it finds is large to move (bench `speed`, instructions)")]
    #[inline(always)]
    pub(crate) fn at<B>(request: &'a http::Request<B>, plan: &MethodPlan, known: Known) -> Self {
        let counts = plan.headers.counts_attempts();
        let extensions = request.extensions();
        let description = extensions.get::<GrpcMethod<'static>>();
        let mut count = usize::from(description.is_some());
        let mut options = None;
        if extensions.len() > count {
            options = extensions.get::<CallOptions>();
            count += usize::from(options.is_some());
        }
        let (mut timeout, mut own) = (None, FoundParts::default());
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
                own.header(name, value, request.headers().len());
            }
        }
        let is_of_tonic = te
            && content_type
            && extensions.len() == count
            && request.method() == Method::POST
            && request.version() == Version::HTTP_2;
        let own = is_of_tonic.then(|| own.finish(plan, request.uri(), description, known));
        Self { options, timeout, own, has_count }
    }
}
