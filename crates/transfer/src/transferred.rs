//! A transfer that is whole.

use crate::checksum::ChecksumValues;
use crate::error::{Failure, TransferError, TransferErrorKind};
use crate::progress::TransferProgress;
use bytes::Bytes;
use gax_driver::OperationReport;
use gax_retry::Code;

/// A transfer that is whole: the server has made the object, or all of an object was received. No checksum that was compared differs;
/// whether one was compared, [`is_verified`](Self::is_verified) says.
#[derive(Debug)]
pub struct Transferred {
    pub(super) response: http::Response<Bytes>,
    pub(super) generation: Option<i64>,
    pub(super) transfer: TransferProgress,
    pub(super) sums: ChecksumValues,
    pub(super) is_verified: bool,
    pub(super) report: OperationReport,
    /// The reports of a download's ranges besides the first.
    pub(super) ranges: Vec<OperationReport>,
}

impl Transferred {
    gax_text::getters! { move self:
        /// The [response](Self::response), by value.
        pub into_response: http::Response<Bytes> = self.response;
    }

    gax_text::getters! { self:
        /// Of an upload, the response that proved the end: of Cloud Storage the resource of the object, as JSON. Of a download, the
        /// first response of the object that was received, without its body.
        pub response: &http::Response<Bytes> = &self.response;

        /// The bytes of the object that were sent or written, by this process or one before.
        pub bytes: u64 = self.transfer.bytes;

        /// How often the transfer continued after a failure.
        pub resumptions: u32 = self.transfer.resumptions;

        /// The generation of the object, if the server names it in the header `x-goog-generation`.
        pub generation: Option<i64> = self.generation;

        /// The CRC32C of what was sent or written, if it was computed.
        pub crc32c: Option<u32> = self.sums.crc32c;

        /// The MD5 of what was sent or written, if it was computed.
        pub md5: Option<[u8; 16]> = self.sums.md5;

        /// Returns whether a checksum that the server named for the object was compared. It isn't if the server names none, if the transfer has
        /// [no checksums](crate::Checksums::NONE), if the source of an upload is a reader whose last bytes another process sent, or if
        /// the server decompresses a download: its checksums are those of the bytes as stored.
        pub is_verified: bool = self.is_verified;

        /// The requests that it took, as attempts of one operation; of several [ranges at once](crate::Download::parallel)
        /// those of the first.
        pub report: &OperationReport = &self.report;

        /// The reports of a download's other ranges, each of which is an operation.
        pub range_reports: &[OperationReport] = &self.ranges;
    }

    /// Another range of it was received.
    pub(super) fn add(&mut self, range: Self) {
        self.transfer.resumptions = self.transfer.resumptions.saturating_add(range.transfer.resumptions);
        self.ranges.push(range.report);
    }

    /// The error of a download that was received, and could not be finished.
    pub(super) fn failed(&self, failure: Failure) -> TransferError {
        let is_mismatch = failure.kind == TransferErrorKind::ChecksumMismatch;
        let code = if is_mismatch { Code::DataLoss } else { Code::FailedPrecondition };
        TransferError::new(failure, Some(self.report.clone().failed(code)), self.transfer, None)
    }
}
