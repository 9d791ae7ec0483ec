//! Uploads in one request, the starts of others, and the objects that they become.

use super::exchange::{Exchange, Stop};
use crate::storage::state::{
    CHUNK, Checksums, ObjectUpload, Preconditions, Protocol, Session, Stage, StorageObject,
};
use crate::storage::wire::{Reply, related_parts};
use bytes::Bytes;
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

    /// Makes the object, if its checksums are right and its preconditions hold; returns its metadata.
    pub(crate) fn make_object(&self, upload: ObjectUpload) -> Result<Bytes, Stop> {
        let mut object =
            StorageObject::of_upload(upload.content.into(), &upload.metadata, upload.content_type);
        if let Some(mismatch) = upload.promised.mismatch(object.checksums()) {
            return Err(Stop::error(400, &mismatch));
        }
        object.key_hash = upload.key_hash;
        self.shared.state.change(|state| {
            let there = state.objects.get(&upload.bucket, &upload.name);
            if let Some(status) = upload.preconditions.refusal(there, false) {
                return Err(Stop::error(status, CONDITION));
            }
            let object = state.objects.put(&upload.bucket, &upload.name, object);
            Ok(object.resource(&upload.bucket, &upload.name).to_string().into())
        })
    }

    /// Makes the object of an upload by several requests; returns its metadata.
    pub(crate) fn finish(&self) -> Result<Bytes, Stop> {
        let id = &self.route.id;
        let upload = self.shared.state.change(|state| {
            let session = &mut state.sessions.get_mut(id)?.upload;
            let content = std::mem::take(&mut session.content);
            let promised = Checksums::in_headers(&self.head.headers).or(session.promised.clone());
            Some(ObjectUpload { content, promised, ..session.clone() })
        });
        let Some(upload) = upload else { return Err(Stop::error(404, NO_SESSION)) };
        let made = self.make_object(upload);
        self.shared.state.change(|state| {
            if let Some(session) = state.sessions.get_mut(id) {
                session.stage = match &made {
                    Ok(resource) => Stage::Finished(resource.clone()),
                    // Nothing can be done with it any longer.
                    Err(_) => Stage::Expired(410),
                };
            }
        });
        made
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

pub(crate) const CONDITION: &str = "At least one of the pre-conditions you specified did not hold.";
pub(crate) const NO_SESSION: &str = "No such upload.";
