//! A download that is whole.

use crate::checksum::ChecksumValues;
use crate::download::head::Version;
use crate::error::{Failure, TransferError};
use crate::progress::TransferProgress;
use gax_driver::OperationReport;

/// A download that is whole, and has the checksums that its server names.
#[derive(Debug)]
pub struct Downloaded {
    pub(super) head: http::response::Parts,
    pub(super) version: Version,
    pub(super) transfer: TransferProgress,
    pub(super) sums: ChecksumValues,
    pub(super) is_verified: bool,
    pub(super) report: OperationReport,
    /// The reports of ranges besides the first.
    pub(super) ranges: Vec<OperationReport>,
}

impl Downloaded {
    /// The head of the first response of the object that was received.
    #[must_use]
    pub fn head(&self) -> &http::response::Parts {
        &self.head
    }

    /// The bytes that were written, of this process or one before.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.transfer.bytes
    }

    /// How often the download continued after a failure.
    #[must_use]
    pub fn resumptions(&self) -> u32 {
        self.transfer.resumptions
    }

    /// The generation of the object, where its server names one.
    #[must_use]
    pub fn generation(&self) -> Option<i64> {
        self.version.generation
    }

    /// The CRC32C of what was written, if it was computed.
    #[must_use]
    pub fn crc32c(&self) -> Option<u32> {
        self.sums.crc32c
    }

    /// The MD5 of what was written, if it was computed.
    #[must_use]
    pub fn md5(&self) -> Option<[u8; 16]> {
        self.sums.md5
    }

    /// Whether a checksum of the server's was compared. It isn't where the server names none, or decompresses on the way: its
    /// checksums are those of the bytes as stored.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// The requests that it took, as attempts of one operation; of several [ranges at once](crate::Download::parallel)
    /// those of the first.
    #[must_use]
    pub fn report(&self) -> &OperationReport {
        &self.report
    }

    /// The reports of the other ranges, each of which is an operation.
    #[must_use]
    pub fn range_reports(&self) -> &[OperationReport] {
        &self.ranges
    }

    /// Another range of it was received.
    pub(super) fn add(&mut self, range: Self) {
        self.transfer.resumptions = self.transfer.resumptions.saturating_add(range.transfer.resumptions);
        self.ranges.push(range.report);
    }

    /// The error of a download that was received, and could not be finished.
    pub(super) fn failed(&self, failure: Failure) -> TransferError {
        TransferError::new(failure, Some(self.report.clone()), self.transfer, None)
    }
}
