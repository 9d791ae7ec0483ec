//! Transfers that are dropped at every chunk border and at random bytes, and go on from their state file.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by it")]

use super::trial::{
    CHUNK, Protocol, content, download, folder, names, over_pipes, over_sockets, reqwest, upload,
};
use bytes::Bytes;
use gax_http::HttpRetryService;
use gax_testing::{StorageArrival, StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{TransferService, UploadSource};
use std::path::Path;
use std::sync::OnceLock;
use tonic_gax_tests::ms;

const SIZE: u64 = 2 * CHUNK + 77;

/// Every chunk border, both ends, and random places, in a sequence that is the same each time: as many as `GAX_TRANSFER_CUTS` says, or a
/// hundred.
fn places() -> Vec<u64> {
    let cuts = std::env::var("GAX_TRANSFER_CUTS").map_or(100, |cuts| cuts.parse().unwrap());
    let mut state = 7_u64;
    let random = std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % (SIZE + 1)
    });
    [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, SIZE - 1, SIZE]
        .into_iter()
        .chain(random.take(cuts))
        .collect()
}

/// The content of the object.
fn whole() -> Bytes {
    static WHOLE: OnceLock<Bytes> = OnceLock::new();
    WHOLE.get_or_init(|| content(SIZE).into()).clone()
}

/// The bytes of the object that requests brought.
fn brought(arrivals: &[StorageArrival]) -> u64 {
    let uploads = arrivals.iter().filter(|arrival| arrival.call == StorageCall::Upload);
    uploads.map(|arrival| arrival.received).sum()
}

/// An upload that is dropped when the server has received that many bytes, and made again.
async fn cut_upload<S: TransferService>(
    storage: &StorageEmulator,
    client: &HttpRetryService<S>,
    url: &str,
    protocol: Protocol,
    (index, place): (usize, u64),
    folder: &Path,
) {
    let granularity = if index % 2 == 0 { 1 } else { CHUNK };
    let storage = storage.clone().granularity(granularity);
    let (state, file) = (folder.join("state"), folder.join("source"));
    let whole = whole();
    std::fs::write(&file, &whole).unwrap();
    let chunk = [None, Some(CHUNK)][index / 2 % 2];
    let send = || {
        let source = if index % 3 == 0 { whole.clone().into() } else { UploadSource::file(&file) };
        upload(client, url, protocol, chunk, source, &state)
    };
    storage.fault(StorageFault::stall().on(StorageCall::Upload).at(place));
    tokio::select! {
        biased;
        () = storage.stalled() => {}
        end = send() => panic!("{protocol:?} at {place}: {end:?}"),
    }
    let before = storage.arrivals().len();
    let uploaded = send().await.unwrap();
    let object = storage.object("b", "o").unwrap();
    assert!(object.content() == &whole, "{protocol:?} at {place}");
    assert_eq!(uploaded.bytes(), SIZE);
    assert_eq!(uploaded.crc32c(), Some(crc32c::crc32c(&whole)), "{protocol:?} at {place}");
    assert_eq!(names(folder), ["source"], "the state is gone");
    let arrivals = storage.arrivals();
    let starts = arrivals.iter().filter(|arrival| arrival.call == StorageCall::StartUpload).count();
    assert_eq!(starts, 1, "{protocol:?} at {place}: it went on");
    let persisted = place - place % granularity;
    assert!(brought(&arrivals[before..]) <= SIZE - persisted, "{protocol:?} at {place}: {arrivals:#?}");
}

/// A download that is dropped when the server has sent that many bytes, and made again. Returns whether it went on.
async fn cut_download<S: TransferService>(
    storage: &StorageEmulator,
    client: &HttpRetryService<S>,
    url: &str,
    place: u64,
    folder: &Path,
) -> bool {
    let (path, whole) = (folder.join("o"), whole());
    storage.put("b", "o", whole.clone());
    storage.fault(StorageFault::stall().on(StorageCall::Download).at(place));
    let cut = async {
        storage.stalled().await;
        if url == URL {
            // In virtual time the clock stands still until all that was sent is written.
            tokio::time::sleep(ms(1)).await;
        }
    };
    let first = tokio::select! {
        biased;
        () = cut => None,
        end = download(client, url, &path) => Some(end),
    };
    if let Some(end) = first {
        // All of it had come.
        assert_eq!((place, end.unwrap().bytes()), (SIZE, SIZE));
    } else {
        assert!(!path.exists(), "at {place}");
        assert_eq!(download(client, url, &path).await.unwrap().bytes(), SIZE, "at {place}");
    }
    assert!(std::fs::read(&path).unwrap() == whole, "at {place}");
    assert_eq!(names(folder), ["o"], "at {place}");
    std::fs::remove_file(path).unwrap();
    storage.arrivals().iter().any(|arrival| arrival.headers.contains_key("range"))
}

const URL: &str = "http://storage.test";

async fn uploads_over_pipes(protocol: Protocol) {
    for (index, place) in places().into_iter().enumerate() {
        let storage = StorageEmulator::start();
        let client = over_pipes(&storage, index % 5 == 0);
        let folder = folder(&format!("pipes-{protocol:?}"));
        cut_upload(&storage, &client, URL, protocol, (index, place), &folder).await;
    }
}

#[tokio::test(start_paused = true)]
async fn uploads_by_cloud_storage_s_protocol_go_on() {
    uploads_over_pipes(Protocol::Resumable).await;
}

#[tokio::test(start_paused = true)]
async fn uploads_by_the_universal_protocol_go_on() {
    uploads_over_pipes(Protocol::Universal).await;
}

#[tokio::test(start_paused = true)]
async fn downloads_go_on() {
    let (mut resumed, places) = (0, places());
    for (index, place) in places.iter().copied().enumerate() {
        let storage = StorageEmulator::start();
        let client = over_pipes(&storage, index % 2 == 0);
        resumed += usize::from(cut_download(&storage, &client, URL, place, &folder("pipes-down")).await);
    }
    // Nothing had come of one that is cut at the begin, and all of one that is cut at the end.
    assert!(resumed + 4 >= places.len(), "{resumed} of {} downloads asked for the rest alone", places.len());
}

async fn uploads_with_reqwest(protocol: Protocol) {
    for (index, place) in places().into_iter().enumerate() {
        let storage = StorageEmulator::start();
        let url = storage.listen().await.unwrap();
        let folder = folder(&format!("reqwest-{protocol:?}"));
        cut_upload(&storage, &reqwest(&url), &url, protocol, (index, place), &folder).await;
    }
}

#[tokio::test]
async fn uploads_by_cloud_storage_s_protocol_go_on_with_reqwest() {
    uploads_with_reqwest(Protocol::Resumable).await;
}

#[tokio::test]
async fn uploads_by_the_universal_protocol_go_on_with_reqwest() {
    uploads_with_reqwest(Protocol::Universal).await;
}

#[tokio::test]
async fn downloads_go_on_with_reqwest_and_over_sockets() {
    for (index, place) in places().into_iter().enumerate() {
        let storage = StorageEmulator::start();
        let url = storage.listen().await.unwrap();
        let folder = folder("reqwest-down");
        if index % 2 == 0 {
            cut_download(&storage, &reqwest(&url), &url, place, &folder).await;
        } else {
            cut_download(&storage, &over_sockets(&url), &url, place, &folder).await;
        }
    }
}
