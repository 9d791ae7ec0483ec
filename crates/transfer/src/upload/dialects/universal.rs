//! Uploads by Google's universal protocol: its requests, and what its responses mean.

use crate::origin::resolved;
use crate::range::number;
use crate::session::{Dialect, MAX_GRANULARITY, UploadSession};
use crate::upload::options::{UploadOptions, with_headers};
use crate::upload::plan::{Reply, Step};
use bytes::Bytes;
use http::request::Builder;
use http::{HeaderMap, Request, StatusCode, Uri};

const COMMAND: &str = "x-goog-upload-command";
const OFFSET: &str = "x-goog-upload-offset";
const STATUS: &str = "x-goog-upload-status";
const RECEIVED: &str = "x-goog-upload-size-received";
const URL: &str = "x-goog-upload-url";
const CONTROL_URL: &str = "x-goog-upload-control-url";
const CHUNK_GRANULARITY: &str = "x-goog-upload-chunk-granularity";

/// The request that starts a session, and its body: the metadata.
pub(in crate::upload) fn start(options: &UploadOptions, size: Option<u64>) -> (Builder, Bytes) {
    let request = with_headers(Request::post(options.request.uri.clone()), &options.request.headers);
    let mut request = request.header("x-goog-upload-protocol", "resumable").header(COMMAND, "start");
    if let Some(content_type) = &options.content_type {
        request = request.header("x-goog-upload-header-content-type", content_type);
    }
    if let Some(size) = size {
        request = request.header("x-goog-upload-header-content-length", size);
    }
    let metadata = options.metadata_with(None);
    if !metadata.is_empty() {
        request = request.header(http::header::CONTENT_TYPE, "application/json; charset=UTF-8");
    }
    (request, metadata)
}

/// The request that asks what a session has.
pub(in crate::upload) fn query(session: &UploadSession) -> Builder {
    Request::post(session.control().clone()).header(COMMAND, "query")
}

/// The request that sends bytes from that place on, the last of which are followed by the end.
pub(in crate::upload) fn send(session: &UploadSession, from: u64, is_last: bool) -> Builder {
    let command = if is_last { "upload, finalize" } else { "upload" };
    Request::post(session.uri.clone()).header(COMMAND, command).header(OFFSET, from)
}

/// The request that cancels a session.
pub(in crate::upload) fn cancel(session: &UploadSession) -> Builder {
    Request::post(session.control().clone()).header(COMMAND, "cancel")
}

/// The session that a response names.
pub(in crate::upload) fn session(request: &Uri, headers: &HeaderMap) -> Option<UploadSession> {
    let uri = |name: &str| headers.get(name).and_then(|value| resolved(request, value));
    let mut session = UploadSession::new(Dialect::Universal, uri(URL)?);
    session.control = uri(CONTROL_URL).filter(|control| *control != session.uri);
    session.granularity = match text(headers, CHUNK_GRANULARITY) {
        Some(granularity) => number(granularity).filter(|bytes| (1..=MAX_GRANULARITY).contains(bytes))?,
        None => session.granularity,
    };
    Some(session)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The meaning of a response. An error without a status of the upload is final.
pub(in crate::upload) fn reply(step: Step, request: &Uri, status: StatusCode, headers: &HeaderMap) -> Reply {
    let upload = text(headers, STATUS).map(str::to_ascii_lowercase);
    let upload = upload.as_deref();
    if step == Step::Start {
        return match upload {
            Some("active") if status.is_success() => match session(request, headers) {
                Some(_) => Reply::Started,
                None => Reply::Malformed("the server did not name a session that can be used"),
            },
            Some("cancelled") => Reply::Cancelled,
            _ if status.is_success() => Reply::Malformed("the server did not start a session"),
            _ => Reply::Failed,
        };
    }
    match (upload, status.as_u16()) {
        (Some("cancelled"), _) | (_, 410) => Reply::Cancelled,
        (Some("final"), _) if status.is_success() => Reply::Finished,
        (Some("active"), _) if status.is_success() => match (text(headers, RECEIVED).map(number), step) {
            (Some(Some(bytes)), _) => Reply::Persisted(bytes),
            (Some(None), _) => Reply::Malformed("the server's `X-Goog-Upload-Size-Received` is not a number"),
            (None, Step::Send { to, .. }) => Reply::Persisted(to),
            (None, _) => Reply::Malformed("the server did not report how much it has"),
        },
        _ if status.is_success() => Reply::Unproven,
        (Some("active"), _) | (None, 409) => Reply::Recoverable,
        (None, 404) => Reply::Gone,
        _ => Reply::Refused,
    }
}

/// Returns whether a response says that a session continues.
pub(in crate::upload) fn is_active(headers: &HeaderMap) -> bool {
    text(headers, STATUS).is_some_and(|status| status.eq_ignore_ascii_case("active"))
}

/// Returns whether a response to its cancellation says that a session is cancelled, or gone for some other reason.
pub(in crate::upload) fn is_cancelled(status: StatusCode, headers: &HeaderMap) -> bool {
    match text(headers, STATUS) {
        Some(upload) => upload.eq_ignore_ascii_case("cancelled"),
        None => status.is_success() || [404, 410].contains(&status.as_u16()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(step: Step, status: u16, headers: &[(&'static str, &'static str)]) -> Reply {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let request = Uri::from_static("https://photos.test/v1/uploads");
        reply(step, &request, StatusCode::from_u16(status).unwrap(), &headers)
    }

    const QUERY: Step = Step::Query { confirms: false };
    const ACTIVE: (&str, &str) = (STATUS, "active");
    const FINAL: (&str, &str) = (STATUS, "final");
    const CANCELLED: (&str, &str) = (STATUS, "cancelled");

    #[test]
    fn the_meaning_of_each_response() {
        let send = Step::Send { from: 0, to: 8, total: None };
        for step in [QUERY, send] {
            for (status, headers, expected) in [
                (200, &[ACTIVE, (RECEIVED, "5")][..], Reply::Persisted(5)),
                (200, &[FINAL], Reply::Finished),
                (200, &[CANCELLED], Reply::Cancelled),
                (410, &[], Reply::Cancelled),
                (404, &[], Reply::Gone),
                (409, &[], Reply::Recoverable),
                (409, &[ACTIVE], Reply::Recoverable),
                (503, &[ACTIVE], Reply::Recoverable),
                (400, &[ACTIVE], Reply::Recoverable),
                (503, &[], Reply::Refused),
                (400, &[], Reply::Refused),
                (400, &[FINAL], Reply::Refused),
                (404, &[FINAL], Reply::Refused),
            ] {
                assert_eq!(of(step, status, headers), expected, "{step:?} {status} {headers:?}");
            }
            assert_eq!(of(step, 200, &[]), Reply::Unproven);
            assert!(matches!(of(step, 200, &[ACTIVE, (RECEIVED, "-1")]), Reply::Malformed(_)));
        }
        // All of a piece was taken where the server does not say otherwise.
        assert_eq!(of(send, 200, &[ACTIVE]), Reply::Persisted(8));
        assert!(matches!(of(QUERY, 200, &[ACTIVE]), Reply::Malformed(_)));
        assert_eq!(of(Step::Start, 200, &[ACTIVE, (URL, "https://photos.test/s")]), Reply::Started);
        assert!(matches!(of(Step::Start, 200, &[ACTIVE]), Reply::Malformed(_)));
        assert!(matches!(of(Step::Start, 200, &[(URL, "https://photos.test/s")]), Reply::Malformed(_)));
        assert_eq!(of(Step::Start, 503, &[]), Reply::Failed);
    }

    #[test]
    fn sessions_with_all_that_their_server_says() {
        let request = Uri::from_static("https://photos.test/v1/uploads");
        let mut headers = HeaderMap::new();
        headers.insert(URL, "https://up.test/1".parse().unwrap());
        headers.insert(CONTROL_URL, "https://up.test/c".parse().unwrap());
        headers.insert(CHUNK_GRANULARITY, "1024".parse().unwrap());
        let session = session(&request, &headers).unwrap();
        assert_eq!((session.expose_uri(), session.granularity), ("https://up.test/1".to_owned(), 1024));
        // Chunks of that length would not fit into memory.
        for granularity in ["0", "-1", "many", "268435457", "18446744073709551615"] {
            let mut headers = headers.clone();
            headers.insert(CHUNK_GRANULARITY, granularity.parse().unwrap());
            assert_eq!(super::session(&request, &headers), None, "{granularity}");
        }
        let uri = |request: Builder| request.body(()).unwrap().uri().to_string();
        assert_eq!(uri(query(&session)), "https://up.test/c");
        assert_eq!(uri(cancel(&session)), "https://up.test/c");
        assert_eq!(uri(send(&session, 3, true)), "https://up.test/1");
        let request = send(&session, 3, true).body(()).unwrap();
        assert_eq!(request.headers()[COMMAND], "upload, finalize");
        assert_eq!(request.headers()[OFFSET], "3");
    }
}
