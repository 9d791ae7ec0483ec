//! The requests of a download.

use crate::http::ReplayBody;
use crate::http::transfer::download::head::Position;
use crate::http::transfer::origin::headers_for;
use crate::http::transfer::request::add_query;
use crate::http::transfer::state_file::StateFile;
use http::header::{ACCEPT_ENCODING, IF_RANGE, RANGE};
use http::request::Parts;
use http::{HeaderValue, Request, Uri};

/// All that the requests of a download have in common.
pub(super) struct DownloadOptions {
    /// The caller's request.
    pub(super) request: Parts,
    /// Whether the object's generation can be asked for in the query.
    pub(super) has_generations: bool,
    /// Whether the bytes are wanted as they are stored.
    pub(super) is_stored: bool,
    pub(super) state: Option<StateFile>,
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
        && options.has_generations
        && target.is_none()
    {
        uri = add_query(&uri, "generation", &generation.to_string());
    }
    let mut request = Request::new(ReplayBody::empty());
    *request.method_mut() = options.request.method.clone();
    *request.headers_mut() = headers_for(&options.request.headers, first, &uri);
    *request.uri_mut() = uri;
    *request.version_mut() = options.request.version;
    let headers = request.headers_mut();
    // Compressed on the way, ranges are of other bytes.
    headers.remove(ACCEPT_ENCODING);
    headers.remove(RANGE);
    if options.is_stored {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(range) = range.and_then(|range| HeaderValue::try_from(range).ok()) {
        headers.insert(RANGE, range);
        if let Some(etag) = version.and_then(|version| version.etag.clone()) {
            headers.insert(IF_RANGE, etag);
        }
    }
    request
}
