//! Which request is which.

use crate::storage::StorageCall;
use crate::storage::state::Protocol;
use crate::storage::wire::{ContentRange, Target, text};
use http::Method;
use http::request::Parts;

/// A request, by what it is about.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) call: StorageCall,
    /// The protocol of an upload by several requests. A request that is none of those known is a command of the universal protocol that
    /// isn't one, or anything else.
    pub(crate) protocol: Protocol,
    /// The object; empty: none. Of an upload that starts, as the query names it.
    pub(crate) bucket: String,
    pub(crate) name: String,
    /// The session; empty: none.
    pub(crate) id: String,
}

impl Route {
    pub(crate) fn of(head: &Parts, target: &Target) -> Self {
        let of = |call, bucket: &str, name: &str| Self {
            call,
            protocol: Protocol::Resumable,
            bucket: bucket.to_owned(),
            name: name.to_owned(),
            id: String::new(),
        };
        let segments = target.segments();
        match (&head.method, segments.as_slice()) {
            (_, ["upload", "storage", "v1", "b", bucket, "o"]) => {
                let (call, protocol) = of_upload(head, target);
                let id = target.query("upload_id");
                let name = target.query("name").filter(|_| id.is_none()).unwrap_or_default();
                Self { protocol, id: id.unwrap_or_default().to_owned(), ..of(call, bucket, name) }
            }
            (&Method::GET, ["storage", "v1", "b", bucket, "o"]) => of(StorageCall::List, bucket, ""),
            (&Method::GET, [before @ .., "storage", "v1", "b", bucket, "o", name])
                if before == ["download"] || (before.is_empty() && target.query("alt") == Some("media")) =>
            {
                of(StorageCall::Download, bucket, name)
            }
            (&Method::GET, ["storage", "v1", "b", bucket, "o", name]) => of(StorageCall::Get, bucket, name),
            (&Method::DELETE, ["storage", "v1", "b", bucket, "o", name]) => {
                of(StorageCall::Delete, bucket, name)
            }
            _ => of(StorageCall::Unknown, "", ""),
        }
    }
}

/// The kind of a request to the path of uploads.
fn of_upload(head: &Parts, target: &Target) -> (StorageCall, Protocol) {
    use Protocol::{Resumable, Universal};
    use StorageCall::{CancelUpload, Insert, QueryUpload, StartUpload, Unknown, Upload};
    let text = |name: &str| text(&head.headers, name);
    let command =
        text("x-goog-upload-command").and_then(|commands| commands.split(',').next()).map(str::trim);
    let is_query = || {
        let range = text("content-range").and_then(ContentRange::read);
        matches!(range, Some(ContentRange::Query(_)))
    };
    match (target.query("upload_id"), command) {
        (Some(_), Some("query")) => (QueryUpload, Universal),
        (Some(_), Some("cancel")) => (CancelUpload, Universal),
        (Some(_), Some("upload" | "finalize")) => (Upload, Universal),
        (Some(_), Some(_)) => (Unknown, Universal),
        (Some(_), None) => match head.method {
            Method::DELETE => (CancelUpload, Resumable),
            Method::PUT | Method::POST if is_query() => (QueryUpload, Resumable),
            Method::PUT | Method::POST => (Upload, Resumable),
            _ => (Unknown, Resumable),
        },
        (None, _) if head.method != Method::POST => (Unknown, Resumable),
        (None, command) => match (text("x-goog-upload-protocol"), target.query("uploadType")) {
            (Some("resumable"), _) if command == Some("start") => (StartUpload, Universal),
            (Some("resumable"), _) => (Unknown, Universal),
            (Some("raw" | "multipart"), _) | (None, Some("media" | "multipart")) => (Insert, Resumable),
            (None, Some("resumable")) => (StartUpload, Resumable),
            _ => (Unknown, Resumable),
        },
    }
}
