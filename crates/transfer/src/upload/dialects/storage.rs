//! Uploads by Cloud Storage's protocol: its requests, and what its responses mean.

use crate::checksum::{ChecksumValues, GOOG_HASH};
use crate::origin::resolved;
use crate::range::persisted;
use crate::request::with_query;
use crate::session::{Dialect, UploadSession};
use crate::upload::options::{UploadOptions, with_headers};
use crate::upload::plan::{Reply, Step};
use bytes::Bytes;
use gax_http::__private::has_dots;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, LOCATION, RANGE};
use http::request::Builder;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use std::collections::VecDeque;

/// Asks the server not to use 308, which clients and proxies take for a redirect.
const NO_308: &str = "x-guploader-no-308";
/// The status that such a response stands for.
const OVERRIDE: &str = "x-http-status-code-override";
const RESUME_INCOMPLETE: u16 = 308;
const CLIENT_CLOSED: u16 = 499;

/// The request that starts a session, and its body: the metadata.
pub(in crate::upload) fn start(
    options: &UploadOptions,
    size: Option<u64>,
    sums: Option<ChecksumValues>,
) -> (Builder, Bytes) {
    let metadata = options.metadata_with(sums);
    let request = Request::post(with_upload_type(&options.request.uri, "resumable"));
    let mut request = with_headers(request, &options.request.headers);
    if !metadata.is_empty() {
        request = replaced(request, CONTENT_TYPE.as_str(), "application/json; charset=UTF-8");
    }
    if let Some(content_type) = &options.content_type {
        request = request.header("x-upload-content-type", content_type);
    }
    if let Some(size) = size {
        request = request.header("x-upload-content-length", size);
    }
    (request, metadata)
}

/// The request that sends all of it at once, and the pieces of its body, with the length of what is before the content.
pub(in crate::upload) fn single(
    options: &UploadOptions,
    content: VecDeque<Bytes>,
    sums: Option<ChecksumValues>,
    boundary: &str,
) -> (Builder, u64, VecDeque<Bytes>) {
    let metadata = options.metadata_with(sums);
    let content_type = options.content_type.as_ref();
    let upload_type = if metadata.is_empty() { "media" } else { "multipart" };
    let request = Request::post(with_upload_type(&options.request.uri, upload_type));
    let mut request = with_headers(request, &options.request.headers);
    if metadata.is_empty() {
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        return (request, 0, content);
    }
    let content_type =
        content_type.and_then(|value| value.to_str().ok()).unwrap_or("application/octet-stream");
    let head = format!(
        "--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{}\r\n--{boundary}\r\nContent-Type: {content_type}\r\n\r\n",
        String::from_utf8_lossy(&metadata),
    );
    let before = head.len() as u64;
    let mut pieces = VecDeque::from([Bytes::from(head)]);
    pieces.extend(content);
    pieces.push_back(Bytes::from(format!("\r\n--{boundary}--\r\n")));
    let content_type = format!("multipart/related; boundary={boundary}");
    (replaced(request, CONTENT_TYPE.as_str(), &content_type), before, pieces)
}

/// The request for the resource of the object that one of the JSON API makes, in a bucket and by a name in its query; `None`: it is
/// another one.
pub(in crate::upload) fn resource(options: &UploadOptions) -> Option<Builder> {
    let uri = &options.request.uri;
    let path = uri.path().strip_prefix("/upload").filter(|path| path.ends_with("/o"))?;
    let name = uri.query()?.split('&').find_map(|pair| pair.strip_prefix("name="))?;
    if has_dots(&name.replace("%2F", "/")) {
        return None;
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("{path}/{}", name.replace('/', "%2F").replace('+', "%20")).parse().ok();
    Some(with_headers(Request::get(Uri::from_parts(parts).ok()?), &options.session_headers()))
}

/// The request that asks what a session has. `confirms`: no 200 may stand for a 308, since a proxy can lose the header that says so.
pub(in crate::upload) fn query(session: &UploadSession, size: Option<u64>, confirms: bool) -> Builder {
    let total = size.map_or_else(|| "*".to_owned(), |size| size.to_string());
    let request = if confirms { Request::put(session.uri.clone()) } else { put(session) };
    request.header(CONTENT_RANGE, format!("bytes */{total}"))
}

/// The request that sends the bytes from one place up to another.
pub(in crate::upload) fn send(
    session: &UploadSession,
    from: u64,
    to: u64,
    total: Option<u64>,
    sums: Option<ChecksumValues>,
) -> Builder {
    let total = total.map_or_else(|| "*".to_owned(), |total| total.to_string());
    let range = match to.checked_sub(1).filter(|_| from < to) {
        Some(last) => format!("bytes {from}-{last}/{total}"),
        None => format!("bytes */{total}"),
    };
    let request = put(session).header(CONTENT_RANGE, range);
    match sums.and_then(ChecksumValues::header) {
        Some(sums) => request.header(GOOG_HASH, sums),
        None => request,
    }
}

fn put(session: &UploadSession) -> Builder {
    Request::put(session.uri.clone()).header(NO_308, "yes")
}

/// The request that cancels a session.
pub(in crate::upload) fn cancel(session: &UploadSession) -> Builder {
    Request::builder().method(Method::DELETE).uri(session.uri.clone()).header(CONTENT_LENGTH, 0)
}

/// Returns whether a response to its cancellation says that a session is cancelled, or gone for some other reason. One that has
/// the object says that it came too late.
pub(in crate::upload) fn is_cancelled(status: StatusCode, content: &[u8]) -> bool {
    status.is_success() && content.is_empty() || [CLIENT_CLOSED, 404, 410].contains(&status.as_u16())
}

/// The session that a response names.
pub(in crate::upload) fn session(request: &Uri, headers: &HeaderMap) -> Option<UploadSession> {
    Some(UploadSession::new(Dialect::Storage, resolved(request, headers.get(LOCATION)?)?))
}

/// The meaning of a response. One that names a range does not finish an upload, regardless of its status.
pub(in crate::upload) fn reply(step: Step, request: &Uri, status: StatusCode, headers: &HeaderMap) -> Reply {
    let is_overridden = headers.get(OVERRIDE).is_some_and(|value| value.as_bytes().trim_ascii() == b"308");
    let is_incomplete = match status.as_u16() {
        // Otherwise it is a redirect.
        RESUME_INCOMPLETE => headers.contains_key(RANGE) || !headers.contains_key(LOCATION),
        _ => status.is_success() && (is_overridden || headers.contains_key(RANGE)),
    };
    match (step, status.as_u16()) {
        (Step::Start, _) if status.is_success() => match session(request, headers) {
            Some(_) => Reply::Started,
            None => Reply::Malformed("the server did not name a session that can be used"),
        },
        (Step::Single, 412) => Reply::Conflict,
        (Step::Query { .. } | Step::Send { .. }, _) if is_incomplete => match persisted(headers) {
            Ok(bytes) => Reply::Persisted(bytes),
            Err(()) => Reply::Malformed("the server's `Range` is not that of a prefix"),
        },
        (_, 200 | 201) if !is_incomplete => Reply::Finished,
        _ if status.is_success() => Reply::Unproven,
        (Step::Look, 404) => Reply::Gone,
        (Step::Start | Step::Single | Step::Look, _) => Reply::Failed,
        (_, 404 | 410) => Reply::Gone,
        (_, CLIENT_CLOSED) => Reply::Cancelled,
        _ => Reply::Failed,
    }
}

/// The URI with that type of upload in its query, instead of any other.
pub(in crate::upload) fn with_upload_type(uri: &Uri, upload_type: &str) -> Uri {
    let query = uri.query().unwrap_or_default();
    let others = query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("uploadType="));
    let query = others.fold(format!("uploadType={upload_type}"), |query, pair| format!("{query}&{pair}"));
    with_query(uri, &query)
}

/// The request with that header instead of those of the same name.
fn replaced(mut request: Builder, name: &'static str, value: &str) -> Builder {
    if let (Some(headers), Ok(value)) = (request.headers_mut(), value.parse()) {
        headers.insert(name, value);
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: Step = Step::Query { confirms: false };

    fn of(step: Step, status: u16, headers: &[(&'static str, &'static str)]) -> Reply {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let request = Uri::from_static("https://storage.test/upload");
        reply(step, &request, StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn the_meaning_of_each_response() {
        let send = Step::Send { from: 0, to: 1, total: Some(1) };
        for step in [QUERY, send] {
            for (status, headers, expected) in [
                (308, &[][..], Reply::Persisted(0)),
                (308, &[("range", "bytes=0-0")], Reply::Persisted(1)),
                (308, &[("range", "bytes=0-262143")], Reply::Persisted(262_144)),
                (
                    200,
                    &[("x-http-status-code-override", "308"), ("range", "bytes=0-9")],
                    Reply::Persisted(10),
                ),
                (200, &[("range", "bytes=0-9")], Reply::Persisted(10)),
                (308, &[("location", "https://other.test/")], Reply::Failed),
                (308, &[("location", "/"), ("range", "bytes=0-9")], Reply::Persisted(10)),
                (200, &[], Reply::Finished),
                (201, &[], Reply::Finished),
                (202, &[], Reply::Unproven),
                (204, &[], Reply::Unproven),
                (404, &[], Reply::Gone),
                (410, &[], Reply::Gone),
                (499, &[], Reply::Cancelled),
                (400, &[], Reply::Failed),
                (412, &[], Reply::Failed),
                (503, &[], Reply::Failed),
            ] {
                assert_eq!(of(step, status, headers), expected, "{step:?} {status}");
            }
            assert!(matches!(of(step, 308, &[("range", "bytes=1-9")]), Reply::Malformed(_)));
        }
        assert_eq!(of(Step::Start, 200, &[("location", "/upload?upload_id=1")]), Reply::Started);
        assert_eq!(of(Step::Start, 201, &[("location", "https://other.test/1")]), Reply::Started);
        for wrong in [&[][..], &[("location", "http://storage.test/upload")], &[("location", "ftp://x")]] {
            assert!(matches!(of(Step::Start, 200, wrong), Reply::Malformed(_)), "{wrong:?}");
        }
        for (step, status) in
            [(Step::Start, 308), (Step::Start, 404), (Step::Single, 404), (Step::Single, 503)]
        {
            assert_eq!(of(step, status, &[]), Reply::Failed);
        }
        assert_eq!(of(Step::Single, 200, &[]), Reply::Finished);
        assert_eq!(of(Step::Single, 200, &[("range", "bytes=0-9")]), Reply::Unproven);
        assert_eq!(of(Step::Single, 204, &[]), Reply::Unproven);
        assert_eq!(of(Step::Look, 200, &[]), Reply::Finished);
        assert_eq!(of(Step::Look, 404, &[]), Reply::Gone);
        assert_eq!(of(Step::Look, 403, &[]), Reply::Failed);
        assert_eq!(of(Step::Start, 412, &[]), Reply::Failed);
        assert_eq!(of(Step::Single, 412, &[]), Reply::Conflict);
    }

    #[test]
    fn ranges_of_what_is_sent() {
        let session = UploadSession::from_uri("https://storage.test/s").unwrap();
        let range = |request: Builder| {
            let request = request.body(()).unwrap();
            request.headers()[CONTENT_RANGE].to_str().unwrap().to_owned()
        };
        assert_eq!(range(query(&session, None, false)), "bytes */*");
        assert_eq!(range(query(&session, Some(7), true)), "bytes */7");
        let has_no_308 =
            |confirms| query(&session, None, confirms).headers_ref().unwrap().contains_key(NO_308);
        assert_eq!([false, true].map(has_no_308), [true, false]);
        assert_eq!(range(send(&session, 0, 4, None, None)), "bytes 0-3/*");
        assert_eq!(range(send(&session, 4, 7, Some(7), None)), "bytes 4-6/7");
        assert_eq!(range(send(&session, 7, 7, Some(7), None)), "bytes */7");
        assert_eq!(range(send(&session, 0, 0, Some(0), None)), "bytes */0");
    }

    #[test]
    fn the_resource_of_an_object() {
        let of = |uri: &str| {
            let request = Request::post(uri).body(()).unwrap().into_parts().0;
            let options = UploadOptions {
                request,
                name: String::new(),
                metadata: Bytes::new(),
                content_type: None,
                chunk_size: None,
            };
            resource(&options).map(|request| request.body(()).unwrap().uri().to_string())
        };
        let path = "https://s.test/upload/storage/v1/b/b/o";
        assert_eq!(
            of(&format!("{path}?ifGenerationMatch=0&name=a%2Fb+c/d")).as_deref(),
            Some("https://s.test/storage/v1/b/b/o/a%2Fb%20c%2Fd")
        );
        for other in [
            path.to_owned(),
            format!("{path}?title=a"),
            format!("{path}?name=a%2F.."),
            "https://s.test/v1/uploads?name=a".to_owned(),
        ] {
            assert_eq!(of(&other), None);
        }
    }

    #[test]
    fn the_type_of_an_upload_is_ours() {
        for (uri, expected) in [
            ("https://s.test/o", "https://s.test/o?uploadType=media"),
            ("https://s.test/o?name=a", "https://s.test/o?uploadType=media&name=a"),
            ("https://s.test/o?uploadType=x&name=a%26b", "https://s.test/o?uploadType=media&name=a%26b"),
        ] {
            assert_eq!(with_upload_type(&uri.parse().unwrap(), "media"), expected);
        }
    }
}
