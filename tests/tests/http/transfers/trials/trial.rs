//! A transfer that is begun, cut, and begun again.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, ReqwestService, presets};
use gax_testing::{Pipes, StorageEmulator};
use gax_transfer::{Download, TransferError, TransferService, Transferred, Upload, UploadSource};
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::fs;
use std::path::{Path, PathBuf};

/// The length that chunks have a multiple of.
pub(super) const CHUNK: u64 = 256 * 1024;

/// A protocol of uploads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Cloud Storage's own.
    Resumable,
    /// Google's universal one.
    Universal,
}

/// Bytes that differ from their neighbours.
pub(super) fn content(length: u64) -> Vec<u8> {
    (0..length).map(|index| u8::try_from((index * 31 + index / 251) % 251).unwrap()).collect()
}

/// A folder that is empty.
pub(super) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transfers").join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The names of the files in a folder.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn layer(host: &str) -> HttpRetryLayer {
    HttpRetryLayer::preset(&presets::storage().with_host(host.to_owned()))
}

/// hyper-util's client over the emulator's pipes.
pub(super) fn over_pipes(
    storage: &StorageEmulator,
    http2_only: bool,
) -> HttpRetryService<Client<Pipes, ReplayBody>> {
    let client = Client::builder(TokioExecutor::new()).http2_only(http2_only).build(storage.connector());
    layer("storage.test").layer(client)
}

fn host(url: &str) -> &str {
    url.trim_start_matches("http://")
}

/// hyper-util's client over sockets.
pub(super) fn over_sockets(url: &str) -> HttpRetryService<Client<HttpConnector, ReplayBody>> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    layer(host(url)).layer(Client::builder(TokioExecutor::new()).build(connector))
}

/// A reqwest client.
pub(super) fn reqwest(url: &str) -> HttpRetryService<ReqwestService> {
    let client = ReqwestService::for_transfers(::reqwest::Client::builder().no_proxy()).unwrap();
    layer(host(url)).layer(client)
}

/// Uploads a source to the object `o`, with a state file.
pub(super) async fn upload<S: TransferService>(
    client: &HttpRetryService<S>,
    url: &str,
    protocol: Protocol,
    chunk: Option<u64>,
    source: UploadSource,
    state: &Path,
) -> Result<Transferred, TransferError> {
    let upload = match protocol {
        Protocol::Resumable => {
            Upload::to_object(url, "b", "o", source).query("ifGenerationMatch", "0").single_request_below(0)
        }
        Protocol::Universal => {
            let start = format!("{url}/upload/storage/v1/b/b/o?name=o&ifGenerationMatch=0");
            Upload::universal(Request::post(start).body(()).unwrap(), source)
        }
    };
    let upload = upload.state_file(state);
    match chunk {
        Some(bytes) => upload.chunk_size(bytes).send(client).await,
        None => upload.send(client).await,
    }
}

/// Downloads the object `o` to a file.
pub(super) async fn download<S: TransferService>(
    client: &HttpRetryService<S>,
    url: &str,
    path: &Path,
) -> Result<Transferred, TransferError> {
    Download::of_object(url, "b", "o").resumable().to_file(client, path).await
}
