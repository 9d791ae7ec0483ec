//! A client of the emulator, and content to transfer.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use bytes::Bytes;
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, presets};
use gax_testing::{Pipes, StorageEmulator};
use gax_transfer::TransferService;
use http::Response;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The emulator's address, which only its own connector knows.
pub(super) const ENDPOINT: &str = "http://storage.test";
pub(super) const KIB_256: usize = 256 * 1024;

pub(super) type StorageClient = HttpRetryService<Client<Pipes, ReplayBody>>;

/// A client with the storage preset.
pub(super) fn client(storage: &StorageEmulator) -> StorageClient {
    with_layer(storage, &HttpRetryLayer::preset(&presets::storage()))
}

pub(super) fn with_layer(storage: &StorageEmulator, layer: &HttpRetryLayer) -> StorageClient {
    layer.layer(Client::builder(TokioExecutor::new()).build(storage.connector()))
}

/// A client with the storage preset that speaks HTTP/2.
pub(super) fn http2_client(storage: &StorageEmulator) -> StorageClient {
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build(storage.connector());
    HttpRetryLayer::preset(&presets::storage()).layer(client)
}

/// A client whose server names no version of its objects.
pub(super) fn without_versions(storage: &StorageEmulator) -> HttpRetryService<impl TransferService> {
    without_headers(storage, &["x-goog-generation", "etag"])
}

/// A client behind a gateway that drops headers of responses.
pub(super) fn without_headers(
    storage: &StorageEmulator,
    names: &'static [&str],
) -> HttpRetryService<impl TransferService> {
    through_proxy(storage, move |response| {
        for name in names {
            drop(response.headers_mut().remove(*name));
        }
    })
}

/// A client whose responses are changed on the way.
pub(super) fn through_proxy(
    storage: &StorageEmulator,
    change: impl Fn(&mut Response<Incoming>) + Clone + Send + Sync + 'static,
) -> HttpRetryService<impl TransferService> {
    let client: Client<Pipes, ReplayBody> = Client::builder(TokioExecutor::new()).build(storage.connector());
    let client = tower::ServiceBuilder::new()
        .map_response(move |mut response: Response<Incoming>| {
            change(&mut response);
            response
        })
        .service(client);
    HttpRetryLayer::preset(&presets::storage()).layer(client)
}

/// So many bytes, of which no two pieces are alike.
pub(super) fn content(length: usize) -> Bytes {
    (0..length).map(|place| u8::try_from((place * 31 + place / 251) % 251).unwrap()).collect()
}

/// The CRC32C of some bytes, bit by bit (RFC 3720, appendix B.4).
pub(super) fn crc32c(data: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { (sum >> 1) ^ 0x82f6_3b78 } else { sum >> 1 };
    let sum = data.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)));
    !sum
}

/// The name of a file that is removed in the end.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("gax-transfers-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.join(name))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.clone()
    }

    pub(super) fn beside(&self, end: &str) -> PathBuf {
        format!("{}{end}", self.0.display()).into()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.0.parent() {
            drop(std::fs::remove_dir_all(folder));
        }
    }
}
