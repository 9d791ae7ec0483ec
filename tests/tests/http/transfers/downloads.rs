//! Downloads, from servers that break off and from servers that lie.

use super::object::{download, layer_of, storage_of};
use super::setup::{
    ENDPOINT, KIB_256, Scratch, client, content, crc32c, with_layer, without_headers, without_versions,
};
use gax_http::HttpRetryLayer;
use gax_testing::{StorageArrival, StorageCall, StorageEmulator, StorageFault, StorageObject};
use gax_transfer::{Checksums, Download, TransferErrorKind, Upload};
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderValue};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tonic_gax::{RetrySettings, StopReason};

const SIZE: usize = 2 * KIB_256 + 1000;
const MIDDLE: u64 = 300_000;

/// Begins a download, of which half comes for now.
async fn stalled<D>(storage: &StorageEmulator, download: D) -> JoinHandle<D::Output>
where
    D: Future<Output: Send> + Send + 'static,
{
    storage.fault(StorageFault::stall().on(StorageCall::Download).at(MIDDLE));
    let running = tokio::spawn(download);
    storage.stalled().await;
    running
}

/// The ranges that were asked for.
fn ranges(storage: &StorageEmulator) -> Vec<Option<String>> {
    storage.arrivals().iter().map(|arrival| arrival.header("range").map(str::to_owned)).collect()
}

#[tokio::test(start_paused = true)]
async fn an_object_arrives_in_memory_in_a_file_and_in_a_writer() {
    for length in [0, 1, SIZE] {
        let storage = storage_of(length);
        let generation = storage.object("b", "folder/o").unwrap().generation();
        let client = client(&storage);
        let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
        assert_eq!(bytes, content(length));
        assert_eq!(downloaded.crc32c(), Some(crc32c(&bytes)));
        assert_eq!((downloaded.generation(), downloaded.is_verified()), (Some(generation), true));
        let mut written = Vec::new();
        download().to_writer(&client, &mut written).await.unwrap();
        assert_eq!(written, content(length));
        let file = Scratch::new("target");
        std::fs::write(file.path(), "before").unwrap();
        download().to_file(&client, file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(length));
        assert!(!file.beside(".gax-part").exists());
        let is_identity = |arrival: &StorageArrival| arrival.header("accept-encoding") == Some("identity");
        assert!(storage.arrivals().iter().all(is_identity));
    }
}

#[tokio::test(start_paused = true)]
async fn a_download_goes_on_after_every_fault() {
    for (what, faults) in [
        ("503", vec![StorageFault::status(503)]),
        ("reset before the head", vec![StorageFault::reset()]),
        ("reset", vec![StorageFault::reset().at(MIDDLE)]),
        ("reset twice", vec![StorageFault::reset().at(MIDDLE), StorageFault::reset().at(MIDDLE + 1)]),
        ("stall", vec![StorageFault::stall().at(MIDDLE)]),
        ("truncated", vec![StorageFault::truncate(MIDDLE)]),
        (
            "truncated, of no known length",
            vec![StorageFault::truncate(MIDDLE), StorageFault::without_header(CONTENT_LENGTH).times(1)],
        ),
        (
            "all of it for a range",
            vec![StorageFault::reset().at(MIDDLE), StorageFault::ignored_range().skip(1)],
        ),
        (
            "an earlier range",
            vec![StorageFault::reset().at(MIDDLE), StorageFault::earlier_range(1000).skip(1)],
        ),
    ] {
        for http2 in [false, true] {
            let storage = storage_of(SIZE);
            for fault in &faults {
                storage.fault(fault.clone().on(StorageCall::Download));
            }
            let client = if http2 { super::setup::http2_client(&storage) } else { client(&storage) };
            let mut written = Vec::new();
            let downloaded = download().to_writer(&client, &mut written).await;
            let downloaded = downloaded
                .unwrap_or_else(|error| panic!("{what} {http2}: {error}\n{}", error.report().unwrap()));
            assert_eq!(written, content(SIZE), "{what} {http2}");
            assert_eq!(storage.faults_left(), 0, "{what} {http2}");
            assert!(downloaded.is_verified());
            let is_resumed =
                what.contains("reset") && !what.contains("before") || ["stall", "truncated"].contains(&what);
            if is_resumed {
                assert!(downloaded.resumptions() > 0, "{what}");
                let last = ranges(&storage).pop().unwrap().unwrap();
                assert!(
                    last.starts_with("bytes=") && last.ends_with('-') && last != "bytes=0-",
                    "{what}: {last}"
                );
                let targets = storage.arrivals();
                assert!(targets.last().unwrap().target.contains("generation="));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_replaced_meanwhile_is_never_mixed() {
    // By its generation it is gone; by its ETag another one comes.
    let by_etag = || {
        let uri = format!("{ENDPOINT}/storage/v1/b/b/o/folder%2Fo?alt=media");
        Download::new(http::Request::get(uri).body(()).unwrap())
    };
    for request in [&download as &dyn Fn() -> Download<'static>, &by_etag] {
        let storage = || {
            let storage = storage_of(SIZE);
            storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
            let other = StorageFault::overwrite(StorageObject::new(vec![7; SIZE]));
            storage.fault(other.on(StorageCall::Download).skip(1));
            storage
        };
        // A file and memory begin anew: nobody has seen what they had before.
        let (file, first) = (Scratch::new("target"), storage());
        let downloaded = request().to_file(&client(&first), file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), vec![7; SIZE]);
        let generation = first.object("b", "folder/o").unwrap().generation();
        assert_eq!((downloaded.generation(), downloaded.is_verified()), (Some(generation), true));
        let (bytes, _) = request().to_bytes(&client(&storage())).await.unwrap();
        assert_eq!(bytes, vec![7; SIZE]);
        // A writer can't take back what it has.
        let error = request().to_writer(&client(&storage()), Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::ObjectChanged, "{error}");
        // Neither is there another one of the generation that was asked for.
        let third = storage();
        let generation = third.object("b", "folder/o").unwrap().generation();
        let error = request().generation(generation).to_bytes(&client(&third)).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::ObjectChanged, Some(404)), "{error}");
    }
    // An object that was deleted isn't there when it begins anew.
    let storage = storage_of(SIZE);
    storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
    storage.fault(StorageFault::status(404).on(StorageCall::Download).skip(1).times(2));
    let error = download().to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(404)), "{error}");
    // Only a generation can be gone while there is another one.
    let storage = storage_of(SIZE);
    storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
    storage.fault(StorageFault::status(404).on(StorageCall::Download).skip(1).times(2));
    let client = without_headers(&storage, &["x-goog-generation"]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::ObjectChanged, Some(404)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn without_a_version_the_prefix_is_compared() {
    // Neither a generation nor a strong ETag.
    for (checksums, is_whole) in [(Checksums::CRC32C, true), (Checksums::NONE, false)] {
        let storage = storage_of(SIZE);
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
        let mut written = Vec::new();
        let client = without_versions(&storage);
        let result = download().checksums(checksums).to_writer(&client, &mut written).await;
        assert_eq!(result.is_ok(), is_whole, "{result:?}");
        assert_eq!(ranges(&storage), [None, None]);
        if is_whole {
            assert_eq!(written, content(SIZE));
        }
    }
    let storage = storage_of(SIZE);
    storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
    storage
        .fault(StorageFault::overwrite(StorageObject::new(vec![7; SIZE])).on(StorageCall::Download).skip(1));
    let error = download().to_writer(&without_versions(&storage), Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ObjectChanged, "{error}");
}

#[tokio::test(start_paused = true)]
async fn ranges_that_lie_are_refused() {
    for range in ["bytes 300001-525287/525288", "bytes 0-9/525288", "bytes 9-8/525288", "lines 1-2/3"] {
        let storage = storage_of(SIZE);
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
        let lie = StorageFault::header(CONTENT_RANGE, HeaderValue::from_static(range));
        storage.fault(lie.on(StorageCall::Download).skip(1));
        let error = download().to_writer(&client(&storage), Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::Malformed, "{range}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_corrupted_on_the_way_leaves_no_file() {
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH] {
        let storage = storage_of(SIZE);
        storage.fault(StorageFault::corrupt(1234).on(StorageCall::Download));
        let file = Scratch::new("target");
        let error = download()
            .checksums(checksums)
            .resumable()
            .to_file(&client(&storage), file.path())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::ChecksumMismatch, "{error}");
        for path in [file.path(), file.beside(".gax-part"), file.beside(".gax-state")] {
            assert!(!path.exists(), "{path:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn composite_objects_have_no_md5() {
    let storage = StorageEmulator::start();
    storage.put("b", "folder/o", StorageObject::new(content(SIZE)).composite());
    for (checksums, is_verified) in
        [(Checksums::BOTH, true), (Checksums::CRC32C, true), (Checksums::MD5, false)]
    {
        let (bytes, downloaded) = download().checksums(checksums).to_bytes(&client(&storage)).await.unwrap();
        assert_eq!((bytes, downloaded.is_verified()), (content(SIZE), is_verified), "{checksums:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn compressed_objects_are_received_as_stored_or_as_they_were() {
    let storage = StorageEmulator::start();
    storage.put("b", "folder/o", StorageObject::new(content(SIZE)).gzip());
    let client = client(&storage);
    let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
    assert_eq!(bytes, content(SIZE));
    assert!(!downloaded.is_verified());
    let (bytes, downloaded) = download().stored().to_bytes(&client).await.unwrap();
    assert_eq!(bytes, storage.object("b", "folder/o").unwrap().content());
    assert!(downloaded.is_verified());
    // Ranges of what is decompressed on the way would be of other bytes: all of it comes again.
    storage.fault(StorageFault::reset().on(StorageCall::Download).at(1000));
    let mut written = Vec::new();
    download().to_writer(&client, &mut written).await.unwrap();
    assert_eq!(written, content(SIZE));
    assert!(ranges(&storage).iter().all(Option::is_none));
}

#[tokio::test(start_paused = true)]
async fn a_download_goes_on_in_another_process() {
    let storage = storage_of(SIZE);
    let client = client(&storage);
    let file = Scratch::new("target");
    let running = stalled(&storage, download().resumable().to_file(&client, file.path())).await;
    let part = || std::fs::metadata(file.beside(".gax-part")).map_or(0, |metadata| metadata.len());
    while part() < MIDDLE / 2 {
        tokio::task::yield_now().await;
    }
    running.abort();
    drop(running.await);
    storage.disconnect();
    assert!(!file.path().exists());
    assert!(file.beside(".gax-state").exists());
    let other = Download::of_object(ENDPOINT, "b", "other").resumable().to_file(&client, file.path()).await;
    assert_eq!(other.unwrap_err().kind(), TransferErrorKind::StateFile);

    let downloaded = download().resumable().to_file(&client, file.path()).await.unwrap();
    assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
    assert_eq!(downloaded.resumptions(), 1);
    assert!(downloaded.is_verified());
    assert!(!file.beside(".gax-part").exists() && !file.beside(".gax-state").exists());
    let last = ranges(&storage).pop().unwrap().unwrap();
    assert!(last.starts_with("bytes=") && last != "bytes=0-", "{last}");

    // One that isn't to go on leaves nothing.
    let running = stalled(&storage, download().to_file(&client, file.beside("-other"))).await;
    running.abort();
    drop(running.await);
    assert!(!file.beside("-other.gax-part").exists());
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_whole_is_only_verified() {
    let storage = storage_of(SIZE);
    let client = client(&storage);
    let file = Scratch::new("target");
    // Killed between its last byte and its name.
    let running = stalled(&storage, download().resumable().to_file(&client, file.path())).await;
    while !file.beside(".gax-state").exists() {
        tokio::task::yield_now().await;
    }
    running.abort();
    drop(running.await);
    std::fs::write(file.beside(".gax-part"), content(SIZE)).unwrap();
    let downloaded = download().resumable().to_file(&client, file.path()).await.unwrap();
    assert!(downloaded.is_verified());
    assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
    assert_eq!(storage.arrivals().last().unwrap().status, Some(416));
}

#[tokio::test(start_paused = true)]
async fn bytes_that_come_give_fresh_retries() {
    let storage = storage_of(SIZE);
    for place in 1..=9 {
        storage.fault(StorageFault::reset().on(StorageCall::Download).at(place * 50_000));
    }
    let (bytes, downloaded) = download().to_bytes(&with_layer(&storage, &layer_of(2))).await.unwrap();
    assert_eq!((bytes, downloaded.resumptions()), (content(SIZE), 9));
    let report = downloaded.report().to_string();
    assert!(report.contains(&format!("transfer: {SIZE} bytes, 9 resumptions")), "{report}");
    assert!(downloaded.report().attempts().iter().all(|attempt| attempt.delay() <= Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn redirects_carry_no_credentials_elsewhere() {
    let storage = storage_of(SIZE);
    let location = |to: &'static str| {
        StorageFault::status(302).with_header(http::header::LOCATION, HeaderValue::from_static(to))
    };
    storage
        .fault(location("http://cdn.test/storage/v1/b/b/o/folder%2Fo?alt=media").on(StorageCall::Download));
    let request = download().header("authorization", "Bearer s3cret").header("user-agent", "mine");
    let (bytes, _) = request.to_bytes(&client(&storage)).await.unwrap();
    assert_eq!(bytes, content(SIZE));
    let [first, second] = &storage.arrivals()[..] else { panic!() };
    assert_eq!(first.header("authorization"), Some("Bearer s3cret"));
    assert_eq!((second.header("authorization"), second.header("user-agent")), (None, Some("mine")));

    let storage = storage_of(SIZE);
    storage.fault(location("/storage/v1/b/b/o/folder%2Fo?alt=media").on(StorageCall::Download).always());
    let error = download().to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Malformed);
    assert_eq!(storage.arrivals().len(), 11);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_server_that_fails_is_no_progress() {
    let settings = RetrySettings::builder().max_attempts(3).build().unwrap();
    let layer = HttpRetryLayer::new(&settings, [tonic_gax::Code::Unavailable]);
    let location = HeaderValue::from_static("/storage/v1/b/b/o/folder%2Fo?alt=media");
    let redirect = || StorageFault::status(302).with_header(http::header::LOCATION, location.clone());
    let storage = storage_of(SIZE);
    for _ in 0..20 {
        storage.fault(redirect().on(StorageCall::Download));
        storage.fault(StorageFault::status(503).on(StorageCall::Download));
    }
    let error = download().to_bytes(&with_layer(&storage, &layer)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(503)), "{error}");
    assert_eq!(error.stop_reason(), Some(StopReason::MaxAttempts));
    assert_eq!(storage.arrivals().len(), 6);
    // Before anything failed, a chain of redirects is followed at once.
    let storage = storage_of(SIZE);
    storage.fault(redirect().on(StorageCall::Download).times(10));
    let (bytes, downloaded) = download().to_bytes(&with_layer(&storage, &layer)).await.unwrap();
    assert_eq!((bytes, downloaded.report().elapsed()), (content(SIZE), Duration::ZERO));
}

/// Two attempts at once would write to one place.
#[tokio::test(start_paused = true)]
async fn transfers_are_not_hedged() {
    let settings = RetrySettings::builder().max_attempts(3).build().unwrap();
    let layer = HttpRetryLayer::new(&settings, [tonic_gax::Code::Unavailable]);
    let layer = layer.hedging(tonic_gax::Hedging::new(3).delay(Duration::from_millis(10)));
    let storage = storage_of(SIZE);
    storage.fault(StorageFault::delay(Duration::from_secs(1)).on(StorageCall::Download));
    storage.fault(StorageFault::delay(Duration::from_secs(1)).on(StorageCall::Upload));
    let client = with_layer(&storage, &layer);
    let (bytes, _) = download().to_bytes(&client).await.unwrap();
    let upload = Upload::to_object(ENDPOINT, "b", "other", bytes).single_request_below(0);
    upload.send(&client).await.unwrap();
    let calls: Vec<_> = storage.arrivals().iter().map(|arrival| arrival.call).collect();
    assert_eq!(calls, [StorageCall::Download, StorageCall::StartUpload, StorageCall::Upload]);
}

#[tokio::test(start_paused = true)]
async fn one_download_at_a_time_writes_a_file() {
    for is_resumable in [false, true] {
        let storage = storage_of(SIZE);
        let client = client(&storage);
        let file = Scratch::new("target");
        let request = || if is_resumable { download().resumable() } else { download() };
        let running = stalled(&storage, request().to_file(&client, file.path())).await;
        for other in [request(), download(), download().parallel(2, 1000)] {
            let error = other.to_file(&client, file.path()).await.unwrap_err();
            assert_eq!(error.kind(), TransferErrorKind::Sink);
            let text = error.to_string();
            assert!(
                text.ends_with("target.gax-part can't be written: another download is writing it"),
                "{text}"
            );
        }
        assert_eq!(storage.arrivals().len(), 1);
        storage.disconnect();
        running.await.unwrap().unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
        // It is free again.
        request().to_file(&client, file.path()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_can_not_be_written_is_noticed_before_anything_is_sent() {
    let storage = storage_of(SIZE);
    let file = Scratch::new("target");
    let folder = file.path().parent().unwrap().to_owned();
    for path in [folder.clone(), folder.join("none/target"), "/".into(), "".into(), folder.join("..")] {
        let error = download().to_file(&client(&storage), &path).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::Sink, "{path:?} {error}");
    }
    assert_eq!(storage.arrivals().len(), 0);
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

/// A write of a download that was dropped may come late.
#[tokio::test(start_paused = true)]
async fn what_somebody_has_written_behind_the_end_is_cut_off() {
    for parallel in [0, 2] {
        let storage = storage_of(SIZE);
        let file = Scratch::new("target");
        storage.fault(StorageFault::stall().on(StorageCall::Download).at(1000));
        let running =
            tokio::spawn(download().parallel(parallel, 100_000).to_file(&client(&storage), file.path()));
        storage.stalled().await;
        let late = std::fs::OpenOptions::new().write(true).open(file.beside(".gax-part")).unwrap();
        late.set_len(2 * SIZE as u64).unwrap();
        storage.disconnect();
        running.await.unwrap().unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
    }
}

/// A download that is whole, and can't get its name, is there the next time.
#[tokio::test(start_paused = true)]
async fn a_name_that_can_not_be_had_loses_no_bytes() {
    let several = || download().resumable().parallel(3, 100_000);
    for request in [&(|| download().resumable()) as &dyn Fn() -> Download<'static>, &several] {
        let storage = storage_of(SIZE);
        let client = client(&storage);
        let file = Scratch::new("target");
        let running = stalled(&storage, request().to_file(&client, file.path())).await;
        // Somebody makes a folder of that name.
        std::fs::create_dir(file.path()).unwrap();
        storage.disconnect();
        assert_eq!(running.await.unwrap().unwrap_err().kind(), TransferErrorKind::Sink);
        std::fs::remove_dir(file.path()).unwrap();
        let before = storage.arrivals().len();
        request().to_file(&client, file.path()).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), content(SIZE));
        let since: Vec<_> = storage.arrivals()[before..].iter().map(|arrival| arrival.status).collect();
        assert_eq!(since, [Some(416)]);
        assert!(!file.beside(".gax-state").exists());
    }
}

#[tokio::test(start_paused = true)]
async fn errors_say_what_the_server_said() {
    let storage = StorageEmulator::start();
    let error = download().to_bytes(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(404)));
    assert_eq!(error.report().unwrap().attempt_count(), 1);
    let text = error.to_string();
    assert!(text.starts_with("GET /storage/v1/b/b/o/folder%2Fo failed after 1 attempt"), "{text}");
    assert!(text.ends_with("the server responded with status 404"), "{text}");
}

/// As soon as its length is known; of what is decompressed on the way, once that many bytes have come.
#[tokio::test(start_paused = true)]
async fn an_object_that_is_too_long_for_memory_is_refused() {
    for is_known in [true, false] {
        let storage = StorageEmulator::start();
        let object = StorageObject::new(content(SIZE));
        storage.put("b", "folder/o", if is_known { object } else { object.gzip() });
        let client = client(&storage);
        let (bytes, _) = download().max_bytes(SIZE as u64).to_bytes(&client).await.unwrap();
        assert_eq!(bytes, content(SIZE));
        let error = download().max_bytes(MIDDLE).to_bytes(&client).await.unwrap_err();
        let problem = "the object is longer than 300000 bytes: raise max_bytes, or receive it into a file";
        assert!(error.to_string().ends_with(problem), "{error}");
        assert_eq!((error.kind(), error.bytes() <= MIDDLE), (TransferErrorKind::Sink, true));
        assert_eq!((error.bytes() == 0, storage.arrivals().len()), (is_known, 2));
        let mut written = Vec::new();
        download().max_bytes(1).to_writer(&client, &mut written).await.unwrap();
        assert_eq!(written.len(), SIZE);
    }
}

#[tokio::test(start_paused = true)]
async fn progress_is_reported_as_bytes_come() {
    let storage = storage_of(SIZE);
    storage.fault(StorageFault::reset().on(StorageCall::Download).at(MIDDLE));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&seen);
    let download = download().on_progress(move |progress| {
        known.lock().unwrap().push((progress.bytes(), progress.total(), progress.resumptions()));
    });
    download.to_bytes(&client(&storage)).await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{seen:?}");
    assert_eq!(seen.last(), Some(&(SIZE as u64, Some(SIZE as u64), 1)));
}
