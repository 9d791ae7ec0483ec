//! Files that are written until a download is whole, and their states.

use super::object::{download, storage_of};
use super::setup::{ENDPOINT, KIB_256, Scratch, StorageClient, client, content, through_proxy};
use gax_http::HttpRetryService;
use gax_testing::{StorageCall, StorageEmulator, StorageFault, StorageObject};
use gax_transfer::{Download, TransferErrorKind, TransferService};
use http::Response;
use hyper::body::Incoming;
use std::path::PathBuf;
use tonic_gax_tests::ms;

const SIZE: usize = 40 * 1024 * 1024;
const MIB_16: u64 = 16 * 1024 * 1024;
const PIECE: u64 = 10 * 1024 * 1024;

/// A download that is dropped when the server has sent that many bytes.
async fn dropped<S: TransferService>(
    storage: &StorageEmulator,
    client: &HttpRetryService<S>,
    download: Download<'static>,
    (file, place): (&Scratch, u64),
) {
    storage.fault(StorageFault::stall().on(StorageCall::Download).at(place));
    let stalled = async {
        storage.stalled().await;
        // In virtual time the clock stands still until all that was sent is written.
        tokio::time::sleep(ms(1)).await;
    };
    tokio::select! {
        biased;
        () = stalled => {}
        end = download.to_file(client, file.path()) => panic!("{end:?}"),
    }
    storage.disconnect();
}

fn without_checksums(response: &mut Response<Incoming>) {
    response.headers_mut().remove("x-goog-hash");
}

fn part(file: &Scratch) -> PathBuf {
    file.beside(".gax-part")
}

#[tokio::test(start_paused = true)]
async fn bytes_that_were_changed_are_not_resumed() {
    for (place, is_resumed) in [(0, false), (MIB_16 - 1, false), (MIB_16 + 300_000, true)] {
        let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
        let client = through_proxy(&storage, without_checksums);
        dropped(&storage, &client, download().resumable(), (&file, MIB_16 + 400_000)).await;
        let mut bytes = std::fs::read(part(&file)).unwrap();
        bytes.resize(SIZE, 0);
        bytes[usize::try_from(place).unwrap()] ^= 1;
        std::fs::write(part(&file), bytes).unwrap();
        let downloaded = download().resumable().to_file(&client, file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
        assert_eq!((downloaded.is_verified(), downloaded.resumptions() > 0), (false, is_resumed), "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_download_that_takes_the_file_takes_the_state() {
    let size = 2 * KIB_256;
    for parallel in [0, 2] {
        let storage = storage_of(size);
        storage.put("b", "other", StorageObject::new(vec![7; 100_000]));
        let (client, file) = (client(&storage), Scratch::new("target"));
        dropped(&storage, &client, download().resumable(), (&file, 200_000)).await;
        assert!(file.beside(".gax-state").exists());
        let other = || Download::of_object(ENDPOINT, "b", "other").parallel(parallel, 10_000);
        // A process that is killed leaves no state of other bytes.
        dropped(&storage, &client, other(), (&file, 50_000)).await;
        assert!(!file.beside(".gax-state").exists());
        other().to_file(&client, file.path()).await.unwrap();
        Download::of_object(ENDPOINT, "b", "other").resumable().to_file(&client, file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), vec![7; 100_000]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_gone_leaves_no_state() {
    let storage = storage_of(2 * KIB_256);
    let (client, file) = (client(&storage), Scratch::new("target"));
    dropped(&storage, &client, download().resumable(), (&file, 200_000)).await;
    storage.fault(StorageFault::status(404).on(StorageCall::Download).times(2));
    let error = download().resumable().to_file(&client, file.path()).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(404)));
    assert_eq!(std::fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 0);
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn the_target_keeps_its_permissions_and_its_links() {
    use std::os::unix::fs::PermissionsExt as _;
    let storage = storage_of(1000);
    let (client, file) = (client(&storage), Scratch::new("target"));
    let link = file.beside("-link");
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for wanted in [0o600, 0o640, 0o400] {
        std::fs::write(file.path(), "before").unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(wanted)).unwrap();
        storage.fault(StorageFault::stall().on(StorageCall::Download).at(500));
        let running = tokio::spawn(download().to_file(&client, file.path()));
        storage.stalled().await;
        assert_eq!(mode(part(&file)), wanted | 0o600);
        storage.disconnect();
        running.await.unwrap().unwrap();
        assert_eq!(
            (mode(file.path()), std::fs::read(file.path()).unwrap()),
            (wanted, content(1000).to_vec())
        );
        std::fs::remove_file(file.path()).unwrap();
    }
    std::fs::write(file.path(), "before").unwrap();
    std::os::unix::fs::symlink(file.path(), &link).unwrap();
    download().to_file(&client, &link).await.unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(file.path()).unwrap(), content(1000));
    // A link to nothing.
    std::fs::remove_file(file.path()).unwrap();
    download().to_file(&client, &link).await.unwrap();
    assert_eq!(std::fs::read(file.path()).unwrap(), content(1000));
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_part_that_somebody_replaced_is_not_written() {
    let storage = storage_of(1000);
    let (client, file) = (client(&storage), Scratch::new("target"));
    storage.fault(StorageFault::stall().on(StorageCall::Download).at(500));
    storage
        .fault(StorageFault::overwrite(StorageObject::new(vec![7; 1000])).on(StorageCall::Download).skip(1));
    let running = tokio::spawn(download().to_file(&client, file.path()));
    storage.stalled().await;
    std::fs::remove_file(part(&file)).unwrap();
    std::fs::write(part(&file), "another").unwrap();
    // Another object is written from the first byte: the file is opened again for that.
    storage.disconnect();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Sink);
    assert!(error.to_string().ends_with("another program has replaced it"), "{error}");
}

/// The requested ranges since.
fn requested(storage: &StorageEmulator, before: usize) -> Vec<String> {
    let ranges = storage.arrivals().into_iter().skip(before);
    ranges.filter_map(|arrival| Some(arrival.header("range")?.to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn ranges_at_once_are_resumed() {
    let whole = content(SIZE);
    let request = || download().resumable().parallel(2, PIECE);
    for is_changed in [false, true] {
        let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
        let client: StorageClient = client(&storage);
        // Behind the first piece two ranges of 20 MiB, of which each has written down its first 16 MiB.
        dropped(&storage, &client, request(), (&file, SIZE as u64 - 1)).await;
        if is_changed {
            let mut bytes = std::fs::read(part(&file)).unwrap();
            bytes[SIZE - 4 * 1024 * 1024 - 10] ^= 1;
            std::fs::write(part(&file), bytes).unwrap();
        }
        let before = storage.arrivals().len();
        let downloaded = if is_changed {
            request().to_file(&client, file.path()).await.unwrap()
        } else {
            // The object's checksum is known from before.
            request().to_file(&through_proxy(&storage, without_checksums), file.path()).await.unwrap()
        };
        assert!(std::fs::read(file.path()).unwrap() == whole);
        assert_eq!((downloaded.bytes(), downloaded.is_verified()), (SIZE as u64, true));
        let ranges = requested(&storage, before);
        if is_changed {
            assert_eq!(ranges[0], "bytes=0-262143", "it starts over");
        } else {
            assert!(ranges.iter().all(|range| !range.starts_with("bytes=0-")), "{ranges:?}");
            assert!(!ranges.is_empty() && ranges.len() <= 2, "{ranges:?}");
        }
        assert!(!part(&file).exists() && !file.beside(".gax-state").exists());
    }
}

/// A download in one range is resumed in several, and the other way round.
#[tokio::test(start_paused = true)]
async fn the_number_of_ranges_may_change() {
    let whole = content(SIZE);
    let (one, several) = (|| download().resumable(), || download().resumable().parallel(2, PIECE));
    for (first, second, least) in [
        (&one as &dyn Fn() -> Download<'static>, &several as &dyn Fn() -> Download<'static>, 2),
        // One of the two may be whole already.
        (&several, &one, 1),
    ] {
        let (storage, file) = (storage_of(SIZE), Scratch::new("target"));
        let client = client(&storage);
        dropped(&storage, &client, first(), (&file, MIB_16 + PIECE)).await;
        let before = storage.arrivals().len();
        second().to_file(&client, file.path()).await.unwrap();
        assert!(std::fs::read(file.path()).unwrap() == whole);
        let ranges = requested(&storage, before);
        assert!((least..=2).contains(&ranges.len()), "{ranges:?}");
        assert_eq!(storage.arrivals().len() - before, ranges.len(), "no request was for all of it");
    }
}
