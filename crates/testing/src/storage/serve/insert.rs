//! Uploads in one request, and the starts of others.

use super::exchange::{Exchange, Stop};
use super::finish::{CONDITION, WholeUpload};
use crate::storage::state::{Checksums, Preconditions, Protocol, Session, Sessions, Stage};
use crate::storage::wire::{Reply, Target, related_parts};
use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use http_body::Body;
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

impl Exchange {
    /// An upload in one request.
    pub(crate) async fn insert<B: Body<Data = Bytes> + Unpin>(
        &mut self,
        head: &Parts,
        target: &Target,
        body: &mut B,
        bucket: String,
        is_multipart: bool,
    ) -> Result<Reply, Stop> {
        let whole = self.collect(body).await?;
        let content_type = text(&head.headers, "content-type").unwrap_or_default();
        let (metadata, content_type, content) = if is_multipart {
            let parts = related_parts(content_type, &whole);
            let Some(((_, fields), (content_type, content))) = parts else {
                return Err(Stop::error(400, "Malformed multipart body."));
            };
            (metadata(&fields)?, content_type, content)
        } else {
            let encoding =
                target.query("contentEncoding").map(|encoding| json!({ "contentEncoding": encoding }));
            (encoding.unwrap_or_else(|| json!({})), Some(content_type.to_owned()), whole)
        };
        let resource = self.make_object(WholeUpload {
            bucket,
            name: name(target, &metadata)?,
            promised: Checksums::in_headers(&head.headers).or(Checksums::in_metadata(&metadata)),
            content,
            metadata,
            content_type: content_type.filter(|text| !text.is_empty()),
            preconditions: Preconditions::of(target).map_err(Stop::invalid)?,
            key_hash: key_hash(&head.headers),
        })?;
        Ok(Reply::json(resource))
    }

    /// Starts an upload by several requests.
    pub(crate) async fn start<B: Body<Data = Bytes> + Unpin>(
        &mut self,
        head: &Parts,
        target: &Target,
        body: &mut B,
        bucket: String,
        protocol: Protocol,
    ) -> Result<Reply, Stop> {
        let metadata = metadata(&self.collect(body).await?)?;
        let name = name(target, &metadata)?;
        let prefix = match protocol {
            Protocol::Resumable => "x-upload-content",
            Protocol::Universal => "x-goog-upload-header-content",
        };
        let declared = |what: &str| text(&head.headers, &format!("{prefix}-{what}"));
        let length = match declared("length").map(str::parse::<u64>) {
            None => None,
            Some(Ok(length)) => Some(length),
            Some(Err(_)) => return Err(Stop::error(400, "The length of the content is not a number.")),
        };
        let preconditions = Preconditions::of(target).map_err(Stop::invalid)?;
        let session = Session {
            protocol,
            preconditions,
            key_hash: key_hash(&head.headers),
            promised: Checksums::in_headers(&head.headers).or(Checksums::in_metadata(&metadata)),
            content_type: declared("type").map(str::to_owned),
            length,
            content: Vec::new(),
            stage: Stage::Active,
            bucket: bucket.clone(),
            name: name.clone(),
            metadata,
        };
        let id = self.shared.change(|state| {
            let refusal = preconditions.refusal(state.objects.get(&bucket, &name), false);
            refusal.map_or_else(|| Ok(state.sessions.start(session)), Err)
        });
        let id = id.map_err(|status| Stop::error(status, CONDITION))?;
        let uri = session_uri(head, &id);
        let reply = Reply::new(200).with("x-guploader-uploadid", id);
        Ok(match protocol {
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
