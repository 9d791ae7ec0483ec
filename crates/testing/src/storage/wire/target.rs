//! The target of a request.

use percent_encoding::percent_decode_str;

/// The path and the query of a request, decoded.
#[derive(Debug)]
pub(crate) struct Target {
    segments: Vec<String>,
    query: Vec<(String, String)>,
}

impl Target {
    pub(crate) fn of(uri: &http::Uri) -> Self {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let segments = uri.path().trim_matches('/').split('/').map(decoded).collect();
        let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(&value.replace('+', " ")))
        });
        Self { segments, query: query.collect() }
    }

    /// The segments of the path.
    pub(crate) fn segments(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).collect()
    }

    /// The first value of that name.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// A header as text.
pub(crate) fn text<'a>(headers: &'a http::HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
