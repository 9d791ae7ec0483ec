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
    parts: Option<Box<[Part]>>,
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

/// What is known of a request before it is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// It goes where the others to its method go. If not, that is not known.
    pub(crate) is_usual_uri: bool,
    /// Somebody on the way may look at its extensions.
    pub(crate) is_watched: bool,
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
    #[expect(clippy::inline_always, reason = "in most cases there are none (bench `speed`, instructions)")]
    #[inline(always)]
    pub(super) fn finish(
        self,
        plan: &MethodPlan,
        uri: &Uri,
        description: Option<&GrpcMethod<'static>>,
        known: Known,
    ) -> OwnParts {
        if self.parts.is_empty()
            && known.is_usual_uri
            && let Some(usual) = &plan.usual
            && (!known.is_watched || usual.describes(description))
        {
            return OwnParts::default();
        }
        self.compare(plan, uri, description, known.is_watched)
    }

    #[cold]
    fn compare(
        mut self,
        plan: &MethodPlan,
        uri: &Uri,
        description: Option<&GrpcMethod<'static>>,
        is_watched: bool,
    ) -> OwnParts {
        let usual = plan.usual.as_ref();
        let (same_uri, same_method) = usual.map_or((false, false), |usual| usual.compare(uri, description));
        if !same_uri {
            self.parts.push(Part::Uri(uri.clone()));
        }
        if is_watched && !same_method {
            self.parts.push(Part::Description(description.cloned()));
        }
        OwnParts { parts: (!self.parts.is_empty()).then(|| self.parts.into_boxed_slice()) }
    }
}

impl OwnParts {
    fn parts(&self) -> &[Part] {
        self.parts.as_deref().unwrap_or_default()
    }

    /// The path of the request.
    pub(super) fn path(&self, plan: &MethodPlan) -> PathAndQuery {
        let own = self.parts().iter().find_map(|part| match part {
            Part::Uri(uri) => Some(uri),
            Part::Header(..) | Part::Description(_) => None,
        });
        own.or_else(|| plan.usual.as_ref()?.uri()).map_or_else(|| PathAndQuery::from_static("/"), path_of)
    }

    /// Writes them into a request.
    pub(super) fn write(&self, plan: &MethodPlan, is_watched: bool, request: &mut http::Request<Body>) {
        let mut description = plan.usual.as_ref().and_then(Usual::description);
        for part in self.parts() {
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
    use crate::grpc::methods::Found;

    /// How many parts are kept of a request to that URI, with that description.
    fn kept(plan: &MethodPlan, uri: &'static str, method: Option<&'static str>, is_watched: bool) -> usize {
        let description = method.map(|method| GrpcMethod::new("pkg.Service", method));
        let known = Known { is_usual_uri: false, is_watched };
        let own = FoundParts::default().finish(plan, &Uri::from_static(uri), description.as_ref(), known);
        own.parts().len()
    }

    #[test]
    fn what_is_as_in_the_first_request_is_not_kept() {
        let of_several = Found::example().plan;
        let usual = of_several.of_one_method();
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
