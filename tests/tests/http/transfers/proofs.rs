//! Proofs that a response has the object, and that a download has its end.

use super::object::{download, storage_of};
use super::setup::{ENDPOINT, KIB_256, Scratch, client, content, through_proxy};
use gax_http::{HttpRetryLayer, ReqwestService, presets};
use gax_testing::{StorageCall, StorageEmulator, StorageFault, StorageObject};
use gax_transfer::{Checksums, Download, TransferErrorKind};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use hyper::body::Incoming;

const SIZE: usize = 2 * KIB_256 + 1000;
const MIDDLE: u64 = 300_000;

fn page(status: u16) -> StorageFault {
    StorageFault::status(status).with_body("<html>log in</html>").on(StorageCall::Download)
}

fn cut() -> StorageFault {
    StorageFault::reset().on(StorageCall::Download).at(MIDDLE)
}

#[tokio::test(start_paused = true)]
async fn a_page_of_a_proxy_is_no_object() {
    for status in [200, 202, 203, 204] {
        let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
        storage.fault(page(status));
        let error = download().to_file(&client(&storage), file.path()).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::Malformed, Some(status)), "{error}");
        assert_eq!(std::fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_in_the_middle_costs_an_attempt_and_no_bytes() {
    let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
    storage.fault(cut());
    storage.fault(page(200).skip(1).times(2));
    let (bytes, downloaded) = download().to_bytes(&client(&storage)).await.unwrap();
    assert_eq!((bytes, downloaded.report().attempt_count()), (content(SIZE), 4));
    // Nor is it the object that has replaced the first one.
    storage.fault(cut());
    storage
        .fault(StorageFault::overwrite(StorageObject::new(vec![7; SIZE])).on(StorageCall::Download).skip(1));
    storage.fault(page(200).skip(1));
    let (bytes, _) = download().to_bytes(&client(&storage)).await.unwrap();
    assert_eq!(bytes, vec![7; SIZE]);
    assert_eq!(storage.faults_left(), 0);
    // If nothing else comes, what has come is kept.
    storage.fault(cut());
    storage.fault(page(200).skip(1).always());
    let error = download().resumable().to_file(&client(&storage), file.path()).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Malformed, "{error}");
    let kept = std::fs::read(file.beside(".gax-part")).unwrap();
    assert!(kept.len() as u64 == error.bytes() && !kept.is_empty() && kept.iter().all(|byte| *byte == 7));
}

#[tokio::test(start_paused = true)]
async fn the_generation_is_the_requested_one() {
    let storage = storage_of(SIZE);
    let generation = storage.object("b", "folder/o").unwrap().generation();
    let name = HeaderName::from_static("x-goog-generation");
    for other in [
        StorageFault::header(name.clone(), HeaderValue::from_static("99")),
        StorageFault::without_header(name),
    ] {
        storage.fault(other.on(StorageCall::Download));
        let error = download().generation(generation).to_bytes(&client(&storage)).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::Malformed, "{error}");
    }
    let (_, downloaded) = download().generation(generation).to_bytes(&client(&storage)).await.unwrap();
    assert_eq!(downloaded.generation(), Some(generation));
}

/// A server that says 416 in the middle.
#[tokio::test(start_paused = true)]
async fn a_range_that_is_refused_in_the_middle_is_not_the_end() {
    let refused = || {
        let range = HeaderValue::from_static("bytes */300000");
        StorageFault::status(416).with_header(CONTENT_RANGE, range).on(StorageCall::Download).skip(1)
    };
    let storage = storage_of(SIZE);
    storage.fault(cut());
    storage.fault(refused());
    let (bytes, downloaded) = download().to_bytes(&client(&storage)).await.unwrap();
    assert_eq!((bytes, downloaded.report().attempt_count()), (content(SIZE), 3));
    // It starts over once.
    storage.fault(cut().times(2));
    storage.fault(refused().times(1));
    storage.fault(refused().skip(2));
    let error = download().to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Malformed, Some(416)), "{error}");
    // Ranges at once can't start over.
    let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
    storage.fault(refused().skip(2));
    let error = download().parallel(3, 100_000).to_file(&client(&storage), file.path()).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ObjectChanged, "{error}");
    assert!(!file.path().exists());
}

#[tokio::test(start_paused = true)]
async fn a_range_without_a_version_needs_a_checksum() {
    let strip = |response: &mut Response<Incoming>| {
        if response.status() == StatusCode::PARTIAL_CONTENT {
            response.headers_mut().remove("x-goog-generation");
            response.headers_mut().remove("etag");
        }
    };
    for (checksums, ranges) in [(Checksums::CRC32C, 1), (Checksums::NONE, 1)] {
        let storage = storage_of(SIZE);
        storage.fault(cut());
        let client = through_proxy(&storage, strip);
        let (bytes, downloaded) = download().checksums(checksums).to_bytes(&client).await.unwrap();
        assert_eq!(bytes, content(SIZE));
        let requests = storage.arrivals();
        let asked = requests.iter().filter(|arrival| arrival.header("range").is_some()).count();
        assert_eq!((asked, downloaded.is_verified()), (ranges, checksums == Checksums::CRC32C));
        // Without one it started over.
        assert_eq!(requests.len(), if checksums == Checksums::NONE { 3 } else { 2 });
    }
}

/// So does Cloud Storage's testbench where it breaks a response off.
#[tokio::test(start_paused = true)]
async fn a_range_may_have_the_status_of_the_whole() {
    for is_sized in [true, false] {
        let as_whole = move |response: &mut Response<Incoming>| {
            *response.status_mut() = StatusCode::OK;
            if !is_sized {
                response.headers_mut().remove(CONTENT_LENGTH);
            }
        };
        let storage = storage_of(SIZE);
        storage.fault(cut());
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE + 4));
        let mut written = Vec::new();
        let downloaded =
            download().to_writer(&through_proxy(&storage, as_whole), &mut written).await.unwrap();
        assert_eq!(written, content(SIZE));
        assert_eq!((downloaded.resumptions(), downloaded.is_verified()), (2, true));
        let file = Scratch::new("target");
        let downloaded =
            download().parallel(3, 100_000).to_file(&through_proxy(&storage, as_whole), file.path()).await;
        assert_eq!(downloaded.unwrap().range_reports().len(), 3);
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_compressed_unasked_is_refused() {
    let gzip =
        || StorageFault::header(CONTENT_ENCODING, HeaderValue::from_static("gzip")).on(StorageCall::Download);
    let storage = storage_of(SIZE);
    storage.fault(gzip());
    let error = download().to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Malformed);
    assert!(error.to_string().contains("has a Content-Encoding that was not requested"), "{error}");
    storage.fault(gzip());
    let error = download().stored().to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Malformed);
    // Where the server doesn't say how it is stored.
    let uri = format!("{ENDPOINT}/storage/v1/b/b/o/folder%2Fo?alt=media");
    let request = || Download::new(http::Request::get(&uri).body(()).unwrap());
    storage.fault(gzip());
    assert_eq!(request().to_bytes(&client(&storage)).await.unwrap_err().kind(), TransferErrorKind::Malformed);
}

#[tokio::test]
async fn a_client_that_decompresses_is_noticed() {
    let storage = StorageEmulator::start();
    storage.put("b", "o", StorageObject::new(content(SIZE)).gzip());
    let url = storage.listen().await.unwrap();
    let layer = HttpRetryLayer::preset(&presets::storage());
    let stored = || Download::of_object(&url, "b", "o").stored();
    let decompressing = ReqwestService::without_redirects(reqwest::Client::builder().no_proxy()).unwrap();
    let error = stored().to_bytes(&layer.clone().layer(decompressing)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Malformed);
    assert!(error.to_string().ends_with("turn off decoding in the HTTP client"), "{error}");
    let plain = layer.layer(ReqwestService::for_transfers(reqwest::Client::builder().no_proxy()).unwrap());
    let (bytes, downloaded) = stored().to_bytes(&plain).await.unwrap();
    assert_eq!(bytes, storage.object("b", "o").unwrap().content());
    assert!(downloaded.is_verified());
    let file = Scratch::new("target");
    stored().parallel(3, 1000).to_file(&plain, file.path()).await.unwrap();
    assert_eq!(std::fs::read(file.path()).unwrap(), bytes);
}

#[tokio::test(start_paused = true)]
async fn a_range_header_of_the_program_is_refused() {
    let storage = storage_of(SIZE);
    let error = download().header("range", "bytes=0-9").to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Invalid);
    assert!(error.to_string().ends_with("remove the header `Range`"), "{error}");
    assert_eq!(storage.arrivals().len(), 0);
}
