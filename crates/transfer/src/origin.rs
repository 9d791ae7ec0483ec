//! Where requests go: redirects, and which headers go along.

use gax_driver::credentials::OtherOrigin;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT};
use http::uri::Scheme;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};

/// The caller's headers that go to other origins too. All others may be credentials.
const HARMLESS: [HeaderName; 4] = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT];

/// Headers of responses with which another party could continue a transfer.
const SECRET: [&str; 5] = [
    "location",
    "content-location",
    "x-goog-upload-url",
    "x-goog-upload-control-url",
    "x-guploader-uploadid",
];

/// Returns whether both have the same scheme, host and port.
pub(super) fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
    one.scheme() == other.scheme() && host(one) == host(other) && port(one) == port(other)
}

fn port(uri: &Uri) -> Option<u16> {
    let by_scheme = || match uri.scheme_str()? {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    };
    uri.port_u16().or_else(by_scheme)
}

/// Adds the caller's headers to a request, below its own. One that goes to another origin gets those that are harmless, and is
/// marked, so that services below add no secrets to it.
pub(super) fn add_headers<B>(request: &mut Request<B>, headers: &HeaderMap, is_own_origin: bool) {
    let goes_along = headers.iter().filter(|(name, _)| is_own_origin || HARMLESS.contains(name));
    let all = goes_along.map(|(name, value)| (name.clone(), value.clone())).collect();
    let ours = std::mem::replace(request.headers_mut(), all);
    request.headers_mut().extend(ours);
    if !is_own_origin {
        request.extensions_mut().insert(OtherOrigin::default());
    }
}

/// The place that a `Location` names, seen from where the response came from; `None`: it is none that a request can go to.
/// Nothing leads from https to http.
pub(super) fn resolved(base: &Uri, location: &HeaderValue) -> Option<Uri> {
    let location = location.to_str().ok()?.split('#').next()?;
    let (scheme, authority) = (base.scheme()?, base.authority()?);
    let target = match location.parse::<Uri>().ok().filter(|uri| uri.scheme().is_some()) {
        Some(absolute) => absolute,
        None if location.starts_with("//") => format!("{scheme}:{location}").parse().ok()?,
        None => {
            let before = match location.split(['/', '?']).next() {
                Some("") if location.starts_with('/') => String::new(),
                Some("") if location.starts_with('?') => base.path().to_owned(),
                // Another scheme.
                Some(first) if first.contains(':') => return None,
                _ => base.path().rsplit_once('/').map_or("", |(folder, _)| folder).to_owned() + "/",
            };
            let place = Uri::builder().scheme(scheme.clone()).authority(authority.clone());
            place.path_and_query(before + location).build().ok()?
        }
    };
    let is_http = [Some(&Scheme::HTTP), Some(&Scheme::HTTPS)].contains(&target.scheme());
    let is_downgrade = *scheme == Scheme::HTTPS && target.scheme() != Some(&Scheme::HTTPS);
    let names_somebody = target.authority().is_none_or(|authority| authority.as_str().contains('@'));
    (is_http && !is_downgrade && !names_somebody).then_some(target)
}

/// Marks the headers of a response that are secrets, so that their values aren't printed.
pub(super) fn hide_secrets(headers: &mut HeaderMap) {
    for name in SECRET {
        if let http::header::Entry::Occupied(mut values) = headers.entry(name) {
            values.iter_mut().for_each(|value| value.set_sensitive(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.parse().unwrap()
    }

    #[test]
    fn origins() {
        let first = uri("https://Storage.test/a");
        for (other, is_same) in [
            ("https://storage.test/b?c", true),
            ("https://storage.test:443/a", true),
            ("http://storage.test/a", false),
            ("https://storage.test:8443/a", false),
            ("https://storage.test.evil/a", false),
        ] {
            assert_eq!(is_same_origin(&first, &uri(other)), is_same, "{other}");
        }
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let mut headers = HeaderMap::new();
        for name in ["authorization", "cookie", "x-api-key", "x-goog-encryption-key", "accept", "user-agent"]
        {
            headers.insert(name, HeaderValue::from_static("x"));
        }
        let sent = |is_own_origin| {
            let mut request = Request::builder().header("accept", "ours").body(()).unwrap();
            add_headers(&mut request, &headers, is_own_origin);
            assert_eq!(request.headers()["accept"], "ours");
            assert_eq!(request.extensions().get::<OtherOrigin>().is_none(), is_own_origin);
            request.into_parts().0.headers
        };
        assert_eq!(sent(true).len(), 6);
        let other = sent(false);
        let names: Vec<_> = other.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["accept", "user-agent"]);
    }

    #[test]
    fn locations() {
        let base = uri("https://a.test/x/y?z");
        for (location, expected) in [
            ("https://b.test/c", Some("https://b.test/c")),
            ("//b.test/c", Some("https://b.test/c")),
            ("/c?d#e", Some("https://a.test/c?d")),
            ("c", Some("https://a.test/x/c")),
            ("?q", Some("https://a.test/x/y?q")),
            ("http://a.test/c", None),
            ("ftp://a.test/c", None),
            ("https://me@a.test/c", None),
            ("file:///etc/passwd", None),
        ] {
            let location = HeaderValue::from_str(location).unwrap();
            assert_eq!(
                resolved(&base, &location).map(|uri| uri.to_string()).as_deref(),
                expected,
                "{location:?}"
            );
        }
        assert_eq!(resolved(&uri("/relative"), &HeaderValue::from_static("/c")), None);
    }

    #[test]
    fn secrets_are_not_printed() {
        let mut headers = HeaderMap::new();
        headers.insert("location", HeaderValue::from_static("https://a.test/?upload_id=s3cret"));
        headers.insert("x-guploader-uploadid", HeaderValue::from_static("s3cret"));
        hide_secrets(&mut headers);
        let text = format!("{headers:?}");
        assert!(!text.contains("s3cret"), "{text}");
    }
}
