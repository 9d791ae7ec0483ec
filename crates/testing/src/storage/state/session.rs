//! An upload that can be resumed.

use super::{Checksums, Preconditions};
use bytes::Bytes;
use serde_json::Value;

/// The length that chunks have a multiple of.
pub(crate) const CHUNK: u64 = 256 * 1024;

/// The protocol that an upload was started by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Cloud Storage's own.
    Resumable,
    /// Google's universal one.
    Universal,
}

/// How far an upload has got.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    Active,
    /// The object has been made; its metadata.
    Finished(Bytes),
    Cancelled,
    /// Replied to with that status.
    Expired(u16),
}

/// An upload by several requests.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) protocol: Protocol,
    /// The length that the client has declared.
    pub(crate) length: Option<u64>,
    /// The bytes that have been persisted.
    pub(crate) upload: ObjectUpload,
    pub(crate) stage: Stage,
}

/// An object that is being uploaded, as its first request describes it.
#[derive(Debug, Clone)]
pub(crate) struct ObjectUpload {
    pub(crate) bucket: String,
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
    pub(crate) metadata: Value,
    pub(crate) content_type: Option<String>,
    pub(crate) preconditions: Preconditions,
    /// The checksums that the client has promised.
    pub(crate) promised: Checksums,
    /// The hash of the key to encrypt with.
    pub(crate) key_hash: Option<String>,
}

impl Session {
    /// Returns whether the upload continues.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Active)
    }

    pub(crate) fn persisted(&self) -> u64 {
        u64::try_from(self.upload.content.len()).unwrap_or(u64::MAX)
    }

    /// Persists bytes that begin at that place, except for those that have been; bytes beyond a gap are dropped.
    pub(crate) fn persist(&mut self, place: u64, bytes: &[u8]) {
        let Some(known) = self.persisted().checked_sub(place) else { return };
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        if let (Stage::Active, Some(new)) = (&self.stage, bytes.get(known..)) {
            self.upload.content.extend_from_slice(new);
        }
    }
}
