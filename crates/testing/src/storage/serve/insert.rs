//! Uploads in one request, and the starts of others.

use super::exchange::{Exchange, Stop};
use super::finish::CONDITION;
use crate::storage::state::{CHUNK, Checksums, ObjectUpload, Preconditions, Protocol, Session, Stage};
use crate::storage::wire::{Reply, related_parts};
use hyper::body::Incoming;
use serde_json::{Value, json};

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

impl Exchange {
    /// The object of an upload, as its first request describes it.
    fn described(&self, metadata: Value, content_type: Option<&str>) -> Result<ObjectUpload, Stop> {
        let name = self.target.query("name").or_else(|| metadata.get("name").and_then(Value::as_str));
        let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(ObjectUpload {
            bucket: self.route.bucket.clone(),
            name: name.ok_or_else(|| Stop::error(400, "Required object name."))?,
            content: Vec::new(),
            promised: Checksums::in_headers(&self.head.headers).or(Checksums::in_metadata(&metadata)),
            metadata,
            content_type: content_type.filter(|text| !text.is_empty()).map(str::to_owned),
            preconditions: Preconditions::of(&self.target).map_err(Stop::invalid)?,
            key_hash: self.header(KEY_HASH).map(str::to_owned),
        })
    }

    /// An upload in one request.
    pub(crate) async fn insert(&mut self, body: &mut Incoming) -> Result<Reply, Stop> {
        let whole = self.collect(body).await?;
        let content_type = self.header("content-type").unwrap_or_default();
        let protocol = self.header("x-goog-upload-protocol").or(self.target.query("uploadType"));
        let (upload, content) = if protocol == Some("multipart") {
            let parts = related_parts(content_type, &whole);
            let Some(((_, fields), (content_type, content))) = parts else {
                return Err(Stop::error(400, "Malformed multipart body."));
            };
            (self.described(metadata(&fields)?, content_type.as_deref())?, content)
        } else {
            let encoding =
                self.target.query("contentEncoding").map(|encoding| json!({ "contentEncoding": encoding }));
            let metadata = encoding.unwrap_or_else(|| json!({}));
            (self.described(metadata, Some(content_type))?, whole)
        };
        Ok(Reply::json(self.make_object(ObjectUpload { content: content.into(), ..upload })?))
    }

    /// Starts an upload by several requests.
    pub(crate) async fn start(&mut self, body: &mut Incoming) -> Result<Reply, Stop> {
        let metadata = metadata(&self.collect(body).await?)?;
        let prefix = match self.route.protocol {
            Protocol::Resumable => "x-upload-content",
            Protocol::Universal => "x-goog-upload-header-content",
        };
        let declared = |what: &str| self.header(&format!("{prefix}-{what}"));
        let length = declared("length").map(str::parse::<u64>).transpose();
        let length = length.map_err(|_| Stop::error(400, "The length of the content is not a number."))?;
        let upload = self.described(metadata, declared("type"))?;
        let id = self.shared.state.change(|state| {
            let there = state.objects.get(&upload.bucket, &upload.name);
            if let Some(status) = upload.preconditions.refusal(there, false) {
                return Err(Stop::error(status, CONDITION));
            }
            let id = format!("upload-{:08}", state.sessions.len() + 1);
            let protocol = self.route.protocol;
            state.sessions.insert(id.clone(), Session { protocol, length, upload, stage: Stage::Active });
            Ok(id)
        })?;
        let uri = self.session_uri(&id);
        let reply = Reply::new(200).with("x-guploader-uploadid", id);
        Ok(match self.route.protocol {
            Protocol::Resumable => reply.with("location", uri),
            Protocol::Universal => reply
                .with("x-goog-upload-url", uri.clone())
                .with("x-goog-upload-control-url", uri)
                .with("x-goog-upload-status", "active")
                .with("x-goog-upload-chunk-granularity", CHUNK),
        })
    }

    /// The URI of a session, at the host that the request was sent to.
    fn session_uri(&self, id: &str) -> String {
        let uri = &self.head.uri;
        let authority = uri.authority().map(http::uri::Authority::as_str);
        let host = authority.or_else(|| self.header("host")).unwrap_or("storage.test");
        let target = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let separator = if target.contains('?') { '&' } else { '?' };
        format!("{}://{host}{target}{separator}upload_id={id}", uri.scheme_str().unwrap_or("http"))
    }
}

/// The header with the hash of the key that an object is encrypted with.
pub(crate) const KEY_HASH: &str = "x-goog-encryption-key-sha256";
