//! What a request has that others to its method do not.

use super::replayable::path_of;
use crate::grpc::methods::{MethodPlan, Usual};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Uri};
use tonic::GrpcMethod;
use tonic::body::Body;

/// What a request has that others to its method do not: nothing, in most cases, which takes no allocation.
#[derive(Debug, Default)]
pub(crate) struct OwnParts {
    parts: Box<[Part]>,
}

#[derive(Debug)]
enum Part {
    /// But for the two that all requests have, and the timeout, which is each attempt's own.
    Header(HeaderName, HeaderValue),
    /// In place of the usual one.
    Uri(Uri),
    /// In place of the usual one.
    Description(Option<GrpcMethod<'static>>),
}

/// The same, as it is found.
#[derive(Debug, Default)]
pub(super) struct FoundParts {
    parts: Vec<Part>,
}

impl FoundParts {
    /// One of at most so many headers.
    pub(super) fn header(&mut self, name: &HeaderName, value: &HeaderValue, at_most: usize) {
        if self.parts.is_empty() {
            self.parts.reserve_exact(at_most);
        }
        self.parts.push(Part::Header(name.clone(), value.clone()));
    }

    /// All parts of a request to that URI. Its description counts only where somebody may look at it.
    #[inline]
    pub(super) fn finish(
        mut self,
        plan: &MethodPlan,
        uri: &Uri,
        description: Option<&GrpcMethod<'static>>,
        is_watched: bool,
    ) -> OwnParts {
        let usual = plan.usual.as_ref();
        let (same_uri, same_method) = usual.map_or((false, false), |usual| usual.compare(uri, description));
        if !same_uri {
            self.add(Part::Uri(uri.clone()));
        }
        if is_watched && !same_method {
            self.add(Part::Description(description.cloned()));
        }
        OwnParts { parts: self.parts.into_boxed_slice() }
    }

    #[cold]
    fn add(&mut self, part: Part) {
        self.parts.push(part);
    }
}

impl OwnParts {
    /// The path of the request.
    pub(super) fn path(&self, plan: &MethodPlan) -> PathAndQuery {
        let own = self.parts.iter().find_map(|part| match part {
            Part::Uri(uri) => Some(uri),
            Part::Header(..) | Part::Description(_) => None,
        });
        own.or_else(|| plan.usual.as_ref()?.uri()).map_or_else(|| PathAndQuery::from_static("/"), path_of)
    }

    /// Writes them into a request.
    pub(super) fn write(&self, plan: &MethodPlan, is_watched: bool, request: &mut http::Request<Body>) {
        let mut description = plan.usual.as_ref().and_then(Usual::description);
        for part in &self.parts {
            match part {
                Part::Header(name, value) => drop(request.headers_mut().append(name.clone(), value.clone())),
                Part::Uri(uri) => request.uri_mut().clone_from(uri),
                Part::Description(own) => description = own.as_ref(),
            }
        }
        if let Some(description) = description.filter(|_| is_watched) {
            request.extensions_mut().insert(description.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::JitterSeeds;
    use crate::settings::{BufferLimits, CallSettings};
    use gax_retry::{CodeSet, Compatibility, RetrySettings};

    fn plan() -> MethodPlan {
        let settings = CallSettings::new(RetrySettings::default(), CodeSet::EMPTY);
        let (limits, jitter) = (BufferLimits::default(), JitterSeeds::default());
        MethodPlan::new(&settings, Compatibility::Grpc, limits, &jitter, None).of_one_method()
    }

    /// How many parts are kept of a request to that URI, with that description.
    fn kept(plan: &MethodPlan, uri: &'static str, method: Option<&'static str>, is_watched: bool) -> usize {
        let description = method.map(|method| GrpcMethod::new("pkg.Service", method));
        let own =
            FoundParts::default().finish(plan, &Uri::from_static(uri), description.as_ref(), is_watched);
        own.parts.len()
    }

    #[test]
    fn what_is_as_in_the_first_request_is_not_kept() {
        let (usual, mut of_several) = (plan(), plan());
        of_several.usual = None;
        assert_eq!(kept(&usual, "/pkg.Service/Get", Some("Get"), true), 0);
        for (uri, method, is_watched, expected) in [
            ("/pkg.Service/Get", Some("Get"), true, (0, 2)),
            ("/pkg.Service/Get", None, true, (1, 2)),
            ("/pkg.Service/Get", None, false, (0, 1)),
            ("/pkg.Service/Get?a=b", Some("Get"), true, (1, 2)),
            ("http://host/pkg.Service/Get", Some("Get"), true, (1, 2)),
            ("http://host/pkg.Service/Get", Some("Got"), true, (2, 2)),
        ] {
            let kept = (kept(&usual, uri, method, is_watched), kept(&of_several, uri, method, is_watched));
            assert_eq!(kept, expected, "{uri} {method:?} {is_watched}");
        }
    }
}
