//! The end of an upload: the object is made.

use super::exchange::{Exchange, Stop};
use crate::storage::state::{Checksums, ObjectUpload, Stage, StorageObject};
use bytes::Bytes;

impl Exchange {
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
}

pub(crate) const CONDITION: &str = "At least one of the pre-conditions you specified did not hold.";
pub(crate) const NO_SESSION: &str = "No such upload.";
