//! The requests that the emulator knows.

/// A kind of request to a [`StorageEmulator`](super::StorageEmulator).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageCall {
    /// An upload in one request: media, multipart, or raw.
    Insert,
    /// The start of an upload that can be resumed.
    StartUpload,
    /// Bytes of an upload: a chunk, or all that is left.
    Upload,
    /// The question how much of an upload has been persisted.
    QueryUpload,
    /// The cancellation of an upload.
    CancelUpload,
    /// The content of an object, or a range of it.
    Download,
    /// The metadata of an object.
    Get,
    /// A page of a list of objects.
    List,
    /// The deletion of an object.
    Delete,
    /// Anything else: it is replied to with 404, and with 400 if it names a command of the universal protocol that isn't one.
    Unknown,
}

impl StorageCall {
    /// Returns whether it brings bytes of an object.
    pub(crate) fn is_upload(self) -> bool {
        matches!(self, Self::Insert | Self::Upload)
    }
}
