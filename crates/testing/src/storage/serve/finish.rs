//! The end of an upload: the object is made.

use super::exchange::{Exchange, Stop};
use crate::storage::state::{Checksums, Preconditions, Stage, StorageObject};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

/// An upload that is whole.
pub(crate) struct WholeUpload {
    pub(crate) bucket: String,
    pub(crate) name: String,
    pub(crate) content: Bytes,
    pub(crate) metadata: Value,
    pub(crate) content_type: Option<String>,
    pub(crate) preconditions: Preconditions,
    pub(crate) promised: Checksums,
    pub(crate) key_hash: Option<String>,
}

impl Exchange {
    /// Makes the object, if its checksums are right and its preconditions hold; returns its metadata.
    pub(crate) fn make_object(&self, upload: WholeUpload) -> Result<Bytes, Stop> {
        let mut object = StorageObject::of_upload(upload.content, &upload.metadata, upload.content_type);
        if let Some(mismatch) = upload.promised.mismatch(object.checksums()) {
            return Err(Stop::error(400, &mismatch));
        }
        object.key_hash = upload.key_hash;
        self.shared.change(|state| {
            let there = state.objects.get(&upload.bucket, &upload.name);
            if let Some(status) = upload.preconditions.refusal(there, false) {
                return Err(Stop::error(status, CONDITION));
            }
            let object = state.objects.put(&upload.bucket, &upload.name, object);
            Ok(object.resource(&upload.bucket, &upload.name).to_string().into())
        })
    }

    /// Makes the object of an upload by several requests; returns its metadata.
    pub(crate) fn finish(&self, id: &str, headers: &HeaderMap) -> Result<Bytes, Stop> {
        let upload = self.shared.change(|state| {
            let session = state.sessions.get_mut(id)?;
            Some(WholeUpload {
                bucket: session.bucket.clone(),
                name: session.name.clone(),
                content: std::mem::take(&mut session.content).into(),
                metadata: session.metadata.clone(),
                content_type: session.content_type.clone(),
                preconditions: session.preconditions,
                promised: Checksums::in_headers(headers).or(session.promised.clone()),
                key_hash: session.key_hash.clone(),
            })
        });
        let Some(upload) = upload else { return Err(Stop::error(404, NO_SESSION)) };
        let made = self.make_object(upload);
        self.shared.change(|state| {
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
}

pub(crate) const CONDITION: &str = "At least one of the pre-conditions you specified did not hold.";
pub(crate) const NO_SESSION: &str = "No such upload.";
