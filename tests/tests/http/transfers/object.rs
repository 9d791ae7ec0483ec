//! The one object of most transfers, on its way in either direction.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::setup::{ENDPOINT, content};
use bytes::Bytes;
use gax_http::HttpRetryLayer;
use gax_testing::StorageEmulator;
use gax_transfer::{Download, Upload, UploadSource};
use std::time::Duration;
use tonic_gax::{Code, RetrySettings};

pub(super) fn download() -> Download<'static> {
    Download::of_object(ENDPOINT, "b", "folder/o")
}

pub(super) fn to_object(source: impl Into<UploadSource>) -> Upload<'static> {
    Upload::to_object(ENDPOINT, "b", "folder/o", source)
}

pub(super) fn universal(source: impl Into<UploadSource>) -> Upload<'static> {
    let uri = format!("{ENDPOINT}/upload/storage/v1/b/b/o?name=folder/o");
    Upload::universal(http::Request::post(uri).body(()).unwrap(), source)
}

/// An upload by either protocol.
pub(super) fn upload_by(is_universal: bool, source: impl Into<UploadSource>) -> Upload<'static> {
    if is_universal { universal(source) } else { to_object(source) }
}

/// An emulator that has the object, of so many bytes.
pub(super) fn storage_of(length: usize) -> StorageEmulator {
    let storage = StorageEmulator::start();
    storage.put("b", "folder/o", content(length));
    storage
}

pub(super) fn stored(storage: &StorageEmulator) -> Bytes {
    storage.object("b", "folder/o").unwrap().content().clone()
}

/// So many attempts, a second apart, then twice as many.
pub(super) fn layer_of(max_attempts: u32) -> HttpRetryLayer {
    let settings = RetrySettings::builder()
        .max_attempts(max_attempts)
        .initial_retry_delay(Duration::from_secs(1))
        .retry_delay_multiplier(2.0)
        .max_retry_delay(Duration::from_secs(60))
        .build()
        .unwrap();
    HttpRetryLayer::new(&settings, [Code::Unavailable])
}
