//! Uploads in one request, and the starts of others.

use super::exchange::{Exchange, Stop};
use super::finish::CONDITION;
use super::route::Route;
use crate::storage::state::{Checksums, ObjectUpload, Preconditions, Protocol, Session, Sessions, Stage};
use crate::storage::wire::{Reply, Target, related_parts};
use http::HeaderMap;
use http::request::Parts;
use hyper::body::Incoming;
use serde_json::{Value, json};

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Reads the metadata of an object; none at all is an object without fields.
fn metadata(body: &[u8]) -> Result<Value, Stop> {
    if body.is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_slice(body)
        .ok()
        .filter(Value::is_object)
        .ok_or_else(|| Stop::error(400, "Parse Error: the metadata is not a JSON object."))
}

/// The object's name, by the query or the metadata.
fn name(target: &Target, metadata: &Value) -> Result<String, Stop> {
    let name = target.query("name").or_else(|| metadata.get("name").and_then(Value::as_str));
    let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
    name.ok_or_else(|| Stop::error(400, "Required object name."))
}

/// The object of an upload, as its first request describes it.
fn described(
    head: &Parts,
    target: &Target,
    route: &Route,
    metadata: Value,
    content_type: Option<&str>,
) -> Result<ObjectUpload, Stop> {
    Ok(ObjectUpload {
        bucket: route.bucket.clone(),
        name: name(target, &metadata)?,
        content: Vec::new(),
        promised: Checksums::in_headers(&head.headers).or(Checksums::in_metadata(&metadata)),
        metadata,
        content_type: content_type.filter(|text| !text.is_empty()).map(str::to_owned),
        preconditions: Preconditions::of(target).map_err(Stop::invalid)?,
        key_hash: key_hash(&head.headers),
    })
}

impl Exchange {
    /// An upload in one request.
    pub(crate) async fn insert(
        &mut self,
        head: &Parts,
        target: &Target,
        body: &mut Incoming,
        route: &Route,
    ) -> Result<Reply, Stop> {
        let whole = self.collect(body).await?;
        let content_type = text(&head.headers, "content-type").unwrap_or_default();
        let protocol = text(&head.headers, "x-goog-upload-protocol").or(target.query("uploadType"));
        let (upload, content) = if protocol == Some("multipart") {
            let parts = related_parts(content_type, &whole);
            let Some(((_, fields), (content_type, content))) = parts else {
                return Err(Stop::error(400, "Malformed multipart body."));
            };
            (described(head, target, route, metadata(&fields)?, content_type.as_deref())?, content)
        } else {
            let encoding =
                target.query("contentEncoding").map(|encoding| json!({ "contentEncoding": encoding }));
            let metadata = encoding.unwrap_or_else(|| json!({}));
            (described(head, target, route, metadata, Some(content_type))?, whole)
        };
        Ok(Reply::json(self.make_object(ObjectUpload { content: content.into(), ..upload })?))
    }

    /// Starts an upload by several requests.
    pub(crate) async fn start(
        &mut self,
        head: &Parts,
        target: &Target,
        body: &mut Incoming,
        route: &Route,
    ) -> Result<Reply, Stop> {
        let metadata = metadata(&self.collect(body).await?)?;
        let prefix = match route.protocol {
            Protocol::Resumable => "x-upload-content",
            Protocol::Universal => "x-goog-upload-header-content",
        };
        let declared = |what: &str| text(&head.headers, &format!("{prefix}-{what}"));
        let length = declared("length").map(str::parse::<u64>).transpose();
        let length = length.map_err(|_| Stop::error(400, "The length of the content is not a number."))?;
        let upload = described(head, target, route, metadata, declared("type"))?;
        let id = self.shared.state.change(|state| {
            let there = state.objects.get(&upload.bucket, &upload.name);
            match upload.preconditions.refusal(there, false) {
                Some(status) => Err(Stop::error(status, CONDITION)),
                None => Ok(state.sessions.start(Session {
                    protocol: route.protocol,
                    length,
                    upload,
                    stage: Stage::Active,
                })),
            }
        })?;
        let uri = session_uri(head, &id);
        let reply = Reply::new(200).with("x-guploader-uploadid", id);
        Ok(match route.protocol {
            Protocol::Resumable => reply.with("location", uri),
            Protocol::Universal => reply
                .with("x-goog-upload-url", uri.clone())
                .with("x-goog-upload-control-url", uri)
                .with("x-goog-upload-status", "active")
                .with("x-goog-upload-chunk-granularity", Sessions::CHUNK),
        })
    }
}

/// The hash of the key that an object is encrypted with.
pub(crate) fn key_hash(headers: &HeaderMap) -> Option<String> {
    text(headers, "x-goog-encryption-key-sha256").map(str::to_owned)
}

/// The URI of a session, at the host that the request was sent to.
fn session_uri(head: &Parts, id: &str) -> String {
    let scheme = head.uri.scheme_str().unwrap_or("http");
    let authority = head.uri.authority().map(http::uri::Authority::as_str);
    let host = authority.or_else(|| text(&head.headers, "host")).unwrap_or("storage.test");
    let target = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let separator = if target.contains('?') { '&' } else { '?' };
    format!("{scheme}://{host}{target}{separator}upload_id={id}")
}
