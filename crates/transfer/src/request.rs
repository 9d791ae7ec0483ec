//! The request that a transfer begins with.

use crate::error::{Failure, TransferErrorKind};
use gax_http::__private::has_dots;
use gax_wire::__private::BoxError;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;

/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The request that a transfer begins with, and what is wrong with it.
pub(super) struct TransferRequest {
    request: Request<()>,
    failure: Option<Failure>,
}

impl TransferRequest {
    pub(super) fn new(mut request: Request<()>, method: Method) -> Self {
        *request.method_mut() = method;
        Self { request, failure: None }
    }

    /// A request about an object, by the JSON API: its name is in the path, or in the query if it is `POST`.
    pub(super) fn to_object(method: Method, endpoint: &str, path: &str, bucket: &str, name: &str) -> Self {
        let encoded = [bucket, name].map(|part| utf8_percent_encode(part, RESERVED));
        let [bucket_in_path, name_in_path] = &encoded;
        let folder = format!("{}{path}/b/{bucket_in_path}/o", endpoint.trim_end_matches('/'));
        let uri = match method {
            Method::POST => format!("{folder}?name={name_in_path}"),
            _ => format!("{folder}/{name_in_path}"),
        };
        let mut request = Self::new(Request::new(()), method);
        match uri.parse() {
            Ok(uri) => *request.request.uri_mut() = uri,
            Err(error) => request.invalidate("the endpoint is not a URI", error),
        }
        if has_dots(bucket) || has_dots(name) {
            let why = "clients and proxies would remove such a part";
            request.invalidate("the name of the bucket or of the object has a part that is `.` or `..`", why);
        }
        request
    }

    /// Something is wrong with it. What came first is reported.
    pub(super) fn invalidate(&mut self, problem: &'static str, source: impl Into<BoxError>) {
        self.failure
            .get_or_insert_with(|| Failure::new(TransferErrorKind::Invalid, problem).with_source(source));
    }

    pub(super) fn header(
        mut self,
        name: impl TryInto<HeaderName, Error: Into<http::Error>>,
        value: impl TryInto<HeaderValue, Error: Into<http::Error>>,
    ) -> Self {
        match (name.try_into(), value.try_into()) {
            (Ok(name), Ok(mut value)) => {
                if [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(&name) {
                    value.set_sensitive(true);
                }
                self.request.headers_mut().append(name, value);
            }
            (Err(error), _) => self.invalidate("a header has a name that can't be sent", error.into()),
            (_, Err(error)) => self.invalidate("a header has a value that can't be sent", error.into()),
        }
        self
    }

    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        let uri = add_query(self.request.uri(), name, value);
        *self.request.uri_mut() = uri;
        self
    }

    pub(super) fn extension(mut self, extension: impl Clone + Send + Sync + 'static) -> Self {
        self.request.extensions_mut().insert(extension);
        self
    }

    /// Its parts.
    ///
    /// # Errors
    ///
    /// It can't be sent.
    pub(super) fn into_parts(self) -> Result<Parts, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let uri = self.request.uri();
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            let problem = "the URI of the request is not absolute, or its scheme is neither http nor https";
            return Err(Failure::new(TransferErrorKind::Invalid, problem));
        }
        Ok(self.request.into_parts().0)
    }
}

/// The URI with one more parameter.
pub(super) fn add_query(uri: &Uri, name: &str, value: &str) -> Uri {
    let before =
        uri.query().filter(|query| !query.is_empty()).map(|query| format!("{query}&")).unwrap_or_default();
    let (name, value) = (utf8_percent_encode(name, RESERVED), utf8_percent_encode(value, RESERVED));
    with_query(uri, &format!("{before}{name}={value}"))
}

/// The URI with that query.
pub(super) fn with_query(uri: &Uri, query: &str) -> Uri {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("{}?{query}", uri.path()).parse().ok();
    Uri::from_parts(parts).unwrap_or_else(|_| uri.clone())
}

/// The path alone: queries may have keys, and headers credentials.
impl fmt::Debug for TransferRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.request.method(), self.request.uri().path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded() {
        let request =
            TransferRequest::to_object(Method::GET, "https://s.test/", "/storage/v1", "b", "a/\u{fc} b?c");
        let request = request.query("alt", "media").query("x", "1&2");
        let parts = request.into_parts().unwrap();
        assert_eq!(parts.uri, "https://s.test/storage/v1/b/b/o/a%2F%C3%BC%20b%3Fc?alt=media&x=1%262");
    }

    #[test]
    fn requests_that_can_not_be_sent_are_refused() {
        let of = |uri: &str| TransferRequest::new(Request::get(uri).body(()).unwrap(), Method::GET);
        for request in [
            of("/relative"),
            of("https://s.test/").header("a b", "c"),
            of("https://s.test/").header("a", "b\nc"),
            TransferRequest::to_object(Method::GET, "not a URI", "/", "b", "o"),
            TransferRequest::to_object(Method::GET, "https://s.test", "/", "b", ".."),
            TransferRequest::to_object(Method::POST, "https://s.test", "/", "b", "a/./b"),
            TransferRequest::to_object(Method::GET, "https://s.test", "/", "..", "o"),
        ] {
            let failure = request.into_parts().unwrap_err();
            assert_eq!(failure.kind, TransferErrorKind::Invalid);
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let request =
            TransferRequest::new(Request::get("https://s.test/a?key=s3cret").body(()).unwrap(), Method::GET);
        let request = request.header("authorization", "Bearer s3cret");
        assert_eq!(format!("{request:?}"), "GET /a");
        let parts = request.into_parts().unwrap();
        assert!(!format!("{:?}", parts.headers).contains("s3cret"));
    }
}
