//! The state file of a download.

use crate::checksum::{ChecksumValues, Checksums, Hasher};
use crate::download::file::Part;
use crate::download::head::Version;
use crate::download::sink::hash_part;
use crate::error::Failure;
use crate::state_file::StateFile;
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::Mutex;

/// A download in a state file.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct DownloadState {
    /// The object: the URI of the request, unless the program has named it.
    pub(super) request: String,
    pub(super) generation: Option<i64>,
    pub(super) etag: Option<String>,
    pub(super) encoding: Option<String>,
    pub(super) total: Option<u64>,
    /// The checksums of the object, as `x-goog-hash` has them.
    pub(super) hash: Option<String>,
    /// The range that was written, or several that were received at once.
    #[serde(default)]
    pub(super) ranges: Vec<StoredRange>,
}

/// A range of the object, of which so many bytes were written.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct StoredRange {
    pub(super) begin: u64,
    /// `None`: it goes to the end.
    pub(super) end: Option<u64>,
    pub(super) bytes: u64,
    pub(super) crc32c: u32,
}

impl StoredRange {
    /// The range with the bytes that the hasher has seen.
    pub(super) fn reaching(self, written: &Hasher) -> Self {
        Self { bytes: written.bytes(), crc32c: written.sums().crc32c.unwrap_or_default(), ..self }
    }

    /// Returns whether the hasher has seen all of it.
    pub(super) fn is_whole(&self, written: &Hasher) -> bool {
        self.end.is_some_and(|end| self.begin.saturating_add(written.bytes()) >= end)
    }
}

impl DownloadState {
    pub(super) fn version(&self) -> Version {
        let value = |text: &Option<String>| HeaderValue::try_from(text.as_deref()?).ok();
        let (etag, encoding) = (value(&self.etag), value(&self.encoding));
        Version { generation: self.generation, etag, encoding, is_transcoded: false }
    }

    pub(super) fn sums(&self) -> ChecksumValues {
        ChecksumValues::in_text(self.hash.iter().map(String::as_str))
    }

    /// The checksums of what the file has of each range; `None`: it has other bytes than were written, or none.
    pub(super) async fn written(&self, part: &Arc<Part>, checksums: Checksums) -> Option<Vec<Hasher>> {
        let (mut next, mut hashers) = (Some(0), Vec::new());
        let checksums = Checksums { crc32c: true, md5: checksums.md5 && self.ranges.len() == 1 };
        for range in &self.ranges {
            let hasher = hash_part(part, range.begin, checksums, range.bytes).await.ok()?;
            let fits = range.end.is_none_or(|end| range.begin.saturating_add(range.bytes) <= end);
            if next != Some(range.begin) || !fits || hasher.sums().crc32c != Some(range.crc32c) {
                return None;
            }
            next = range.end;
            hashers.push(hasher);
        }
        (self.version().is_resumable() && (next.is_none() || next == self.total)).then_some(hashers)
    }
}

/// The state file of a download, which all its ranges write.
pub(super) struct Checkpoints {
    file: StateFile,
    state: Mutex<Option<DownloadState>>,
}

impl Checkpoints {
    pub(super) fn new(file: StateFile) -> Self {
        Self { file, state: Mutex::default() }
    }

    /// The state that an earlier process has left of the same request, and the checksums of what it has written of each range.
    pub(super) async fn left(
        &self,
        request: &str,
        part: &Arc<Part>,
        checksums: Checksums,
    ) -> Result<Option<(DownloadState, Vec<Hasher>)>, Failure> {
        let Some(loaded) = self.file.load::<DownloadState>().await? else { return Ok(None) };
        if loaded.request != request {
            return Err(self.file.of_another());
        }
        let written = loaded.written(part, checksums).await;
        *self.state.lock().await = Some(loaded.clone());
        Ok(written.map(|written| (loaded, written)))
    }

    /// The download is in that state; `None`: no other process can resume it.
    pub(super) async fn set(&self, new: Option<DownloadState>) -> Result<(), Failure> {
        let mut state = self.state.lock().await;
        *state = new;
        match &*state {
            Some(state) => self.file.save(state).await,
            None => self.file.remove().await,
        }
    }

    /// Of that range so much is written as the hasher has seen.
    pub(super) async fn reach(&self, place: usize, written: &Hasher) -> Result<(), Failure> {
        let mut state = self.state.lock().await;
        let Some(state) = &mut *state else { return Ok(()) };
        if let Some(range) = state.ranges.get_mut(place) {
            *range = range.reaching(written);
        }
        self.file.save(state).await
    }
}
