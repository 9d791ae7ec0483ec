//! The requests that an emulator saw.

use http::{HeaderMap, Method};
use std::time::Duration;

/// A request that reached a [`StorageEmulator`](super::StorageEmulator), and how far the reply to it has got.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StorageArrival {
    /// How many requests came before it.
    pub index: usize,
    /// When, from the emulator's start on.
    pub at: Duration,
    /// The kind of the request.
    pub call: StorageCall,
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// How many bytes of the request's body have been read.
    pub received: u64,
    /// The status of the reply; `None`: there is none yet, or there never was one.
    pub status: Option<u16>,
    /// How many bytes of the reply's body have been sent.
    pub sent: u64,
    /// `true` if the reply has been sent in full.
    pub is_whole: bool,
}

impl StorageArrival {
    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

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
