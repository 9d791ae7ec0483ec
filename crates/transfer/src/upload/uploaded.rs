//! An upload that is whole.

use crate::checksum::ChecksumValues;
use crate::progress::TransferProgress;
use bytes::Bytes;
use gax_driver::OperationReport;

/// An upload that is whole: the server has made the object. Whether its checksum was compared with that of the source,
/// [`is_verified`](Self::is_verified) says.
#[derive(Debug)]
pub struct Uploaded {
    pub(super) response: http::Response<Bytes>,
    pub(super) transfer: TransferProgress,
    pub(super) sums: ChecksumValues,
    pub(super) is_verified: bool,
    pub(super) report: OperationReport,
}

impl Uploaded {
    /// The response that proved the end: of Cloud Storage the resource of the object, as JSON.
    #[must_use]
    pub fn response(&self) -> &http::Response<Bytes> {
        &self.response
    }

    /// That response, by value.
    #[must_use]
    pub fn into_response(self) -> http::Response<Bytes> {
        self.response
    }

    /// The bytes of the object.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.transfer.bytes
    }

    /// How often the upload continued after a failure.
    #[must_use]
    pub fn resumptions(&self) -> u32 {
        self.transfer.resumptions
    }

    /// The CRC32C of the source, if it was computed.
    #[must_use]
    pub fn crc32c(&self) -> Option<u32> {
        self.sums.crc32c
    }

    /// The MD5 of the source, if it was computed.
    #[must_use]
    pub fn md5(&self) -> Option<[u8; 16]> {
        self.sums.md5
    }

    /// Whether a checksum that the server named for the object was compared with the source's. It isn't where the server names none,
    /// the upload has [no checksums](crate::Checksums::NONE), or the source is a reader whose last bytes another process sent.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// The requests that it took, as attempts of one operation.
    #[must_use]
    pub fn report(&self) -> &OperationReport {
        &self.report
    }
}
