//! The requests of a download.

use crate::download::head::{Position, Version};
use crate::download::state::Checkpoints;
use crate::origin::{add_headers, is_same_origin};
use crate::request::add_query;
use gax_http::ReplayBody;
use http::header::{ACCEPT_ENCODING, IF_RANGE, RANGE};
use http::request::Parts;
use http::{HeaderValue, Request, Uri};

/// All that the requests of a download have in common.
pub(super) struct DownloadOptions {
    /// The caller's request.
    pub(super) request: Parts,
    /// The object's name in a state file.
    pub(super) name: String,
    /// `true` if it is an object of Cloud Storage.
    pub(super) is_object: bool,
    /// The generation that the program asks for, in its query.
    pub(super) generation: Option<i64>,
    /// `true` if the bytes are wanted as they are stored.
    pub(super) is_stored: bool,
    pub(super) state: Option<Checkpoints>,
}

impl DownloadOptions {
    /// Returns whether requests ask for the generation of the first response.
    pub(super) fn has_generations(&self) -> bool {
        self.is_object && self.generation.is_none()
    }
}

/// Returns whether a request from that position gets a range of the known version or none: by `If-Range`, or by the generation in its query.
pub(super) fn is_pinned(options: &DownloadOptions, target: Option<&Uri>, position: &Position) -> bool {
    let has_query = target.is_none() && (options.is_object || options.generation.is_some());
    let is_named = |version: &Version| version.etag.is_some() || has_query && version.generation.is_some();
    position.range().is_some() && position.version.as_ref().is_some_and(is_named)
}

/// The request of an attempt.
pub(super) fn request(
    options: &DownloadOptions,
    target: Option<&Uri>,
    position: &Position,
) -> Request<ReplayBody> {
    let first = &options.request.uri;
    let mut uri = target.unwrap_or(first).clone();
    let range = position.range();
    let version = position.version.as_ref().filter(|_| range.is_some());
    if let Some(generation) = version.and_then(|version| version.generation)
        && options.has_generations()
        && target.is_none()
    {
        uri = add_query(&uri, "generation", &generation.to_string());
    }
    let mut request = Request::new(ReplayBody::empty());
    *request.method_mut() = options.request.method.clone();
    add_headers(&mut request, &options.request.headers, is_same_origin(first, &uri));
    *request.uri_mut() = uri;
    *request.version_mut() = options.request.version;
    let headers = request.headers_mut();
    // Compressed on the way, ranges are of other bytes. Without the header a proxy may choose.
    let encoding = if options.is_stored { "gzip" } else { "identity" };
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(encoding));
    if let Some(range) = range.and_then(|range| HeaderValue::try_from(range).ok()) {
        headers.insert(RANGE, range);
        if let Some(etag) = version.and_then(|version| version.etag.clone()) {
            headers.insert(IF_RANGE, etag);
        }
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_pinned_by_what_its_request_names() {
        let (uri, etag) = (Uri::from_static("http://there.test/o"), HeaderValue::from_static("\"a\""));
        let by_etag = Version { etag: Some(etag), ..Version::default() };
        let by_generation = Version { generation: Some(1), ..Version::default() };
        let (here, there) = (None, Some(&uri));
        for (is_object, generation, target, version, expected) in [
            (true, None, here, &by_generation, true),
            (false, Some(1), here, &by_generation, true),
            // Neither does the program ask for a generation, nor does Cloud Storage get one.
            (false, None, here, &by_generation, false),
            // Where a redirect leads, the query is that of the redirect.
            (true, Some(1), there, &by_generation, false),
            (false, None, there, &by_etag, true),
            (true, Some(1), here, &Version::default(), false),
        ] {
            let request = Request::new(()).into_parts().0;
            let name = String::new();
            let options =
                DownloadOptions { request, name, is_object, generation, is_stored: false, state: None };
            let position = Position { limit: Some(5), version: Some(version.clone()), ..Position::default() };
            assert_eq!(is_pinned(&options, target, &position), expected, "{version:?}");
            for unknown in
                [Position { limit: None, ..position.clone() }, Position { version: None, ..position }]
            {
                assert!(!is_pinned(&options, target, &unknown), "{unknown:?}");
            }
        }
    }
}
