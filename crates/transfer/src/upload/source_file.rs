//! The file that an upload sends.

use crate::error::{Failure, TransferErrorKind};
use std::fs::{File, Metadata};
use std::time::UNIX_EPOCH;

/// The file that an upload sends, and when it was changed last before that.
pub(super) struct SourceFile {
    file: File,
    modified: Option<u64>,
}

impl SourceFile {
    pub(super) fn new(file: File, metadata: &Metadata) -> Self {
        Self { file, modified: modified(metadata) }
    }

    /// When it was changed last, in nanoseconds since 1970.
    pub(super) fn modified(&self) -> Option<u64> {
        self.modified
    }

    /// Checks that nobody has written to it since.
    pub(super) fn unchanged(&self) -> Result<(), Failure> {
        let now = self.file.metadata().ok().as_ref().and_then(modified);
        if now == self.modified {
            return Ok(());
        }
        let problem = "the source was written to while it was sent";
        Err(Failure::new(TransferErrorKind::SourceChanged, problem))
    }
}

fn modified(metadata: &Metadata) -> Option<u64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
