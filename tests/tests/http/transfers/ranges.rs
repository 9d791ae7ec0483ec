//! Downloads of several ranges at once.

use super::object::{download, storage_of};
use super::setup::{KIB_256, Scratch, StorageClient, client, content, crc32c, without_versions};
use gax_testing::{StorageCall, StorageFault, StorageObject};
use gax_transfer::{Checksums, TransferErrorKind};
use http::header::{CONTENT_RANGE, HeaderValue};
use std::sync::{Arc, Mutex};

const SIZE: usize = 2 * KIB_256 + 1000;
const MIDDLE: u64 = 300_000;
/// The length of a range.
const PIECE: u64 = 100_000;

#[tokio::test(start_paused = true)]
async fn ranges_at_once_are_one_file() {
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
        let storage = storage_of(SIZE);
        // One range breaks off, another one has a server that knows none, a third begins too early.
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
        storage.fault(StorageFault::ignored_range().on(StorageCall::Download).skip(3));
        storage.fault(StorageFault::earlier_range(500).on(StorageCall::Download).skip(2));
        let file = Scratch::new("target");
        let last = Arc::new(Mutex::new((0, None)));
        let known = Arc::clone(&last);
        let download = download().checksums(checksums).parallel(3, PIECE).on_progress(move |progress| {
            *known.lock().unwrap() = (progress.bytes(), progress.total());
        });
        let downloaded = download.to_file(&client(&storage), file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
        assert_eq!((downloaded.bytes(), downloaded.range_reports().len()), (SIZE as u64, 3));
        assert_eq!(downloaded.is_verified(), checksums != Checksums::NONE);
        assert_eq!(downloaded.resumptions(), 1);
        assert_eq!(storage.faults_left(), 0);
        assert_eq!(*last.lock().unwrap(), (SIZE as u64, Some(SIZE as u64)));
        if checksums == Checksums::CRC32C || checksums == Checksums::BOTH {
            assert_eq!(downloaded.crc32c(), Some(crc32c(&content(SIZE))));
        }
    }
    // A range that is corrupted leaves no file, whichever it is.
    for place in [0, MIDDLE, SIZE as u64 - 1] {
        let storage = storage_of(SIZE);
        storage.fault(StorageFault::corrupt(place).on(StorageCall::Download));
        let file = Scratch::new("target");
        let error = download().parallel(3, PIECE).to_file(&client(&storage), file.path()).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::ChecksumMismatch);
        assert!(!file.path().exists() && !file.beside(".gax-part").exists());
    }
    // A server that knows no ranges sends all of it, and a short object is one range.
    for length in [SIZE, 0, 1, 100_000] {
        let storage = storage_of(length);
        storage.fault(StorageFault::ignored_range().on(StorageCall::Download).always());
        let file = Scratch::new("target");
        let downloaded = download().parallel(3, PIECE).to_file(&client(&storage), file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(length));
        assert!(downloaded.is_verified());
        assert_eq!(storage.arrivals().len(), 1);
    }
    for length in [1, 100_000] {
        let (storage, file) = (storage_of(length), Scratch::new("target"));
        download().parallel(3, PIECE).to_file(&client(&storage), file.path()).await.unwrap();
        assert_eq!(storage.arrivals().len(), 1, "nothing is missing behind the first range");
    }
    let storage = storage_of(0);
    let file = Scratch::new("target");
    for has_range in [true, false] {
        if !has_range {
            storage.fault(StorageFault::without_header(CONTENT_RANGE));
        }
        download().parallel(3, PIECE).to_file(&client(&storage), file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), b"");
        let statuses: Vec<_> = storage.arrivals().iter().map(|arrival| arrival.status).collect();
        assert!(statuses.ends_with(&[Some(416), Some(200)]), "{statuses:?}");
    }
}

/// The first range does not say how long the whole is.
#[tokio::test(start_paused = true)]
async fn an_object_of_unknown_length_is_received_to_its_end() {
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
        let storage = storage_of(SIZE);
        let range = HeaderValue::from_static("bytes 0-99999/*");
        storage.fault(StorageFault::header(CONTENT_RANGE, range).on(StorageCall::Download));
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
        let file = Scratch::new("target");
        let last = Arc::new(Mutex::new((0, None)));
        let known = Arc::clone(&last);
        let download = download().checksums(checksums).parallel(3, PIECE).on_progress(move |progress| {
            *known.lock().unwrap() = (progress.bytes(), progress.total());
        });
        let downloaded = download.to_file(&client(&storage), file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
        assert_eq!(downloaded.is_verified(), checksums != Checksums::NONE);
        assert_eq!((downloaded.bytes(), downloaded.resumptions()), (SIZE as u64, 1));
        let has_crc32c = checksums == Checksums::CRC32C || checksums == Checksums::BOTH;
        assert_eq!(downloaded.crc32c(), has_crc32c.then(|| crc32c(&content(SIZE))));
        assert_eq!(*last.lock().unwrap(), (SIZE as u64, Some(SIZE as u64)));
        assert_eq!((downloaded.range_reports().len(), storage.arrivals().len()), (1, 3));
    }
}

/// Nobody knows whether ranges would be of the same object.
#[tokio::test(start_paused = true)]
async fn an_object_without_a_version_is_one_range() {
    for checksums in [Checksums::CRC32C, Checksums::NONE] {
        let storage = storage_of(SIZE);
        let file = Scratch::new("target");
        let request = download().checksums(checksums).parallel(3, PIECE);
        let downloaded = request.to_file(&without_versions(&storage), file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
        assert_eq!(downloaded.bytes(), SIZE as u64);
    }
}

#[tokio::test(start_paused = true)]
async fn ranges_of_two_objects_are_never_mixed() {
    for skipped in 1..4 {
        let storage = storage_of(SIZE);
        let other = StorageFault::overwrite(StorageObject::new(vec![7; SIZE]));
        storage.fault(other.on(StorageCall::Download).skip(skipped));
        let file = Scratch::new("target");
        let error = download().parallel(3, PIECE).to_file(&client(&storage), file.path()).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::ObjectChanged, "{error}");
        assert!(!file.path().exists() && !file.beside(".gax-part").exists());
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_ranges_at_once_and_no_more() {
    let (storage, file) = (storage_of(1000), Scratch::new("target"));
    let downloaded = download().parallel(u32::MAX, 1).to_file(&client(&storage), file.path()).await.unwrap();
    assert_eq!(std::fs::read(file.path()).unwrap(), content(1000));
    // 999 bytes in ranges of four.
    assert_eq!(downloaded.range_reports().len(), 250);
}

/// 256 KiB come alone, then all ranges are under way at once, however long they are.
#[tokio::test(start_paused = true)]
async fn a_short_range_shows_the_length() {
    let length = 9 * KIB_256;
    let (storage, file) = (storage_of(length), Scratch::new("target"));
    // The second range stalls until the two behind it have come.
    storage.fault(StorageFault::stall().on(StorageCall::Download).at(KIB_256 as u64 + 1));
    let download = download().parallel(4, 2 * KIB_256 as u64).to_file(&client(&storage), file.path());
    let running = tokio::spawn(download);
    storage.stalled().await;
    running.await.unwrap().unwrap();
    let arrivals = storage.arrivals();
    let ranges: Vec<_> = arrivals.iter().map(|arrival| arrival.header("range").unwrap()).collect();
    let (probe, rest) = ranges.split_first().unwrap();
    assert_eq!(*probe, "bytes=0-262143");
    let borders =
        ["bytes=262144-786431", "bytes=786432-1310719", "bytes=1310720-1835007", "bytes=1835008-2359295"];
    assert!(borders.iter().all(|range| rest[..4].contains(range)), "{rest:?}");
    assert_eq!(std::fs::read(file.path()).unwrap(), content(length));
}

#[tokio::test(start_paused = true)]
async fn ranges_that_are_dropped_leave_nothing() {
    let dropped = |client: &StorageClient, file: &Scratch| {
        tokio::spawn(download().parallel(3, PIECE).to_file(client, file.path()))
    };
    for place in [1, PIECE + 1, MIDDLE, SIZE as u64] {
        let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
        storage.fault(StorageFault::stall().on(StorageCall::Download).at(place));
        let running = dropped(&client(&storage), &file);
        storage.stalled().await;
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
        assert_eq!(std::fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 0, "{place}");
    }
}
