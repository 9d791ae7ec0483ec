//! Uploads by Cloud Storage's protocol and by the universal one.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::object::{layer_of, stored, to_object, universal, upload_by};
use super::setup::{ENDPOINT, KIB_256, Scratch, client, content, crc32c, with_layer};
use gax_driver::observe::{Event, OperationInfo, OperationObserver};
use gax_http::{HttpRetryLayer, OperationOptions, presets};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{Checksums, TransferErrorKind, TransferProgress, Upload, UploadSession, UploadSource};
use std::sync::{Arc, Mutex};
use tonic_gax::{StartedAttempt, StopReason};

const SIZE: usize = 3 * KIB_256 + 1000;

/// The requests that have come, in short.
fn calls(storage: &StorageEmulator) -> Vec<(StorageCall, Option<u16>)> {
    storage.arrivals().iter().map(|arrival| (arrival.call, arrival.status)).collect()
}

/// A source of each kind, with the same bytes.
fn sources(file: &Scratch) -> Vec<(&'static str, UploadSource)> {
    std::fs::write(file.path(), content(SIZE)).unwrap();
    vec![
        ("bytes", UploadSource::from(content(SIZE))),
        ("file", UploadSource::file(file.path())),
        ("seekable", UploadSource::seekable(std::io::Cursor::new(content(SIZE)))),
        ("reader", UploadSource::reader(std::io::Cursor::new(content(SIZE)))),
        ("sized reader", UploadSource::reader(std::io::Cursor::new(content(SIZE))).with_size(SIZE as u64)),
    ]
}

#[tokio::test(start_paused = true)]
async fn every_source_arrives_by_both_protocols_whole_or_in_chunks() {
    let file = Scratch::new("source");
    for is_universal in [false, true] {
        for chunk in [None, Some(KIB_256 as u64)] {
            for (name, source) in sources(&file) {
                let storage = StorageEmulator::start();
                let upload = upload_by(is_universal, source);
                let mut upload = upload.single_request_below(0);
                if let Some(chunk) = chunk {
                    upload = upload.chunk_size(chunk);
                }
                let uploaded = upload.send(&client(&storage)).await.unwrap();
                assert_eq!(stored(&storage), content(SIZE), "{name} {chunk:?} {is_universal}");
                assert_eq!((uploaded.bytes(), uploaded.resumptions()), (SIZE as u64, 0), "{name}");
                assert_eq!(uploaded.crc32c(), Some(crc32c(&content(SIZE))));
                assert_eq!(storage.open_uploads(), 0);
                assert!(calls(&storage).iter().all(|(_, status)| status.is_some()));
                if chunk.is_some() {
                    // The start, three chunks and the rest.
                    assert_eq!(storage.arrivals().len(), 5, "{name}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_goes_on_after_every_fault() {
    use StorageCall::{QueryUpload, StartUpload, Upload as Send};
    let file = Scratch::new("source");
    let middle = KIB_256 as u64 + 7;
    for is_universal in [false, true] {
        for (what, fault, is_resumed) in [
            ("reset at the start", StorageFault::reset().on(StartUpload), false),
            ("503 at the start", StorageFault::status(503).on(StartUpload), false),
            ("lost session", StorageFault::lost_reply().on(StartUpload), false),
            ("reset in the middle", StorageFault::reset().on(Send).at(middle), true),
            ("503 in the middle", StorageFault::status(503).on(Send).at(middle), true),
            ("503 at once", StorageFault::status(503).on(Send).early(), true),
            ("lost reply", StorageFault::lost_reply().on(Send), true),
            ("cut reply", StorageFault::cut_reply(3).on(Send), true),
            ("stall in the middle", StorageFault::stall().on(Send).at(middle), true),
            ("a part is persisted", StorageFault::persisted(KIB_256 as u64).on(Send), false),
            ("nothing is persisted", StorageFault::persisted(0).on(Send), true),
            ("503 to the question", StorageFault::status(503).on(QueryUpload), true),
        ] {
            for (name, source) in sources(&file) {
                let storage = StorageEmulator::start();
                storage.fault(fault.clone());
                if what == "503 to the question" {
                    storage.fault(StorageFault::reset().on(Send).at(middle));
                }
                let upload = upload_by(is_universal, source);
                let uploaded = upload.single_request_below(0).send(&client(&storage)).await;
                let uploaded = uploaded.unwrap_or_else(|error| {
                    panic!(
                        "{what}, {name}, {is_universal}: {error}\n{}\n{:?}",
                        error.report().unwrap(),
                        calls(&storage)
                    )
                });
                assert_eq!(stored(&storage), content(SIZE), "{what}, {name}");
                assert_eq!(storage.faults_left(), 0, "{what}, {name}");
                let resource = serde_json::from_slice::<serde_json::Value>(uploaded.response().body());
                assert!(resource.is_ok(), "{what}, {name}: a part of the reply is no reply");
                if !what.contains("reply") {
                    assert_eq!(uploaded.resumptions() > 0, is_resumed, "{what}, {name}, {is_universal}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_final_reply_is_a_success() {
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::lost_reply().on(StorageCall::Upload));
    let uploaded = to_object(content(SIZE)).single_request_below(0).send(&client(&storage)).await.unwrap();
    let expected = [
        (StorageCall::StartUpload, Some(200)),
        (StorageCall::Upload, None),
        (StorageCall::QueryUpload, Some(200)),
    ];
    assert_eq!(
        calls(&storage).iter().map(|(call, _)| *call).collect::<Vec<_>>(),
        expected.map(|(call, _)| call)
    );
    let resource: serde_json::Value = serde_json::from_slice(uploaded.response().body()).unwrap();
    assert_eq!(resource["size"], SIZE.to_string());
    // The start is no retry, and the question none.
    let report = uploaded.report();
    assert_eq!(report.attempt_count(), 3);
    assert!(report.to_string().contains(&format!("transfer: {SIZE} bytes, 0 resumptions")), "{report}");
}

#[tokio::test(start_paused = true)]
async fn one_byte_that_was_persisted_is_not_sent_again() {
    for (is_universal, name, value) in
        [(false, "content-range", "bytes 1-"), (true, "x-goog-upload-offset", "1")]
    {
        let storage = StorageEmulator::start().granularity(1);
        storage.fault(StorageFault::reset().on(StorageCall::Upload).at(1));
        let upload = upload_by(is_universal, content(SIZE));
        let uploaded = upload.single_request_below(0).send(&client(&storage)).await.unwrap();
        assert_eq!((stored(&storage), uploaded.resumptions()), (content(SIZE), 1));
        assert!(storage.arrivals()[3].header(name).unwrap().starts_with(value));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_offset_is_recovered_from() {
    // By Cloud Storage's protocol bytes that come again are ignored, and those behind a gap get 503.
    for (is_universal, claimed, status) in [(false, 0, 200), (false, 2, 503), (true, 0, 409), (true, 2, 409)]
    {
        let storage = StorageEmulator::start();
        storage.fault(StorageFault::reset().on(StorageCall::Upload).at(KIB_256 as u64));
        storage.fault(StorageFault::claimed(claimed * KIB_256 as u64).on(StorageCall::QueryUpload));
        let upload = upload_by(is_universal, content(SIZE));
        upload.single_request_below(0).send(&client(&storage)).await.unwrap();
        assert_eq!(stored(&storage), content(SIZE));
        assert_eq!(calls(&storage)[3], (StorageCall::Upload, Some(status)), "{is_universal} {claimed}");
    }
}

#[tokio::test(start_paused = true)]
async fn progress_gives_fresh_retries() {
    // Three attempts, and eight failures of which each comes after some progress.
    let storage = StorageEmulator::start();
    for place in 1..=8 {
        storage.fault(StorageFault::reset().on(StorageCall::Upload).at(place * KIB_256 as u64 + 1));
    }
    let upload = to_object(content(10 * KIB_256)).single_request_below(0);
    let uploaded = upload.send(&with_layer(&storage, &layer_of(3))).await.unwrap();
    assert_eq!(uploaded.resumptions(), 8);
    assert_eq!(stored(&storage), content(10 * KIB_256));

    // Without any progress three are three.
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::status(503).on(StorageCall::Upload).always());
    let upload = to_object(content(SIZE)).single_request_below(0);
    let error = upload.send(&with_layer(&storage, &layer_of(3))).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(503)));
    assert_eq!(error.stop_reason(), Some(StopReason::MaxAttempts));
    let sends = calls(&storage).iter().filter(|(call, _)| *call == StorageCall::Upload).count();
    assert_eq!(sends, 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_expires_is_started_anew_where_the_source_can_seek() {
    // By the universal protocol 410 is a session that somebody has cancelled.
    for (is_universal, status) in [(false, 404), (false, 410), (true, 404)] {
        let upload = |source| upload_by(is_universal, source);
        for chunk in [None, Some(KIB_256 as u64)] {
            let storage = StorageEmulator::start();
            storage.fault(
                StorageFault::expired(status).on(StorageCall::Upload).skip(u32::from(chunk.is_some())),
            );
            let source = UploadSource::seekable(std::io::Cursor::new(content(SIZE)));
            let mut upload = upload(source).single_request_below(0);
            if let Some(chunk) = chunk {
                upload = upload.chunk_size(chunk);
            }
            upload.send(&client(&storage)).await.unwrap();
            assert_eq!(stored(&storage), content(SIZE));
            let starts = calls(&storage).iter().filter(|(call, _)| *call == StorageCall::StartUpload).count();
            assert_eq!(starts, 2, "{status}");
        }
        // A reader that has let go of its begin can't.
        let storage = StorageEmulator::start();
        storage.fault(StorageFault::expired(status).on(StorageCall::Upload).skip(1));
        let source = UploadSource::reader(std::io::Cursor::new(content(SIZE)));
        let error = upload(source).chunk_size(KIB_256 as u64).send(&client(&storage)).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::Source, Some(status)));
    }
}

/// The bytes of the next session are progress, though the lost one had more.
#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_late_is_started_anew() {
    let size = 7 * KIB_256;
    for then_refused in [false, true] {
        let (storage, state) = (StorageEmulator::start(), Scratch::new("state"));
        storage.fault(StorageFault::expired(410).on(StorageCall::Upload).skip(5));
        if then_refused {
            storage.fault(StorageFault::status(403).on(StorageCall::Upload).at(5 * KIB_256 as u64).skip(5));
        }
        let upload = || {
            let upload = to_object(content(size)).single_request_below(0).chunk_size(KIB_256 as u64);
            upload.state_file(state.path())
        };
        let client = with_layer(&storage, &layer_of(3));
        match upload().send(&client).await {
            Ok(uploaded) => assert_eq!((then_refused, uploaded.bytes()), (false, size as u64)),
            Err(error) => {
                // The old session's 410 says nothing of the new one.
                assert_eq!(
                    (then_refused, error.status(), error.session().is_some()),
                    (true, Some(403), true)
                );
                upload().send(&client).await.unwrap();
            }
        }
        let starts = calls(&storage).iter().filter(|(call, _)| *call == StorageCall::StartUpload).count();
        assert_eq!((stored(&storage) == content(size), starts), (true, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_cancelled_is_the_end() {
    for (is_universal, status) in [(false, 499), (true, 410)] {
        let storage = StorageEmulator::start();
        let sessions = Arc::new(Mutex::new(Vec::new()));
        let known = Arc::clone(&sessions);
        storage.fault(StorageFault::stall().on(StorageCall::Upload).at(KIB_256 as u64));
        let upload = upload_by(is_universal, content(SIZE));
        let upload = upload.single_request_below(0).on_session(move |session: &UploadSession| {
            known.lock().unwrap().push(session.clone());
        });
        let client = client(&storage);
        let running = tokio::spawn(upload.send(&client));
        storage.stalled().await;
        let session = sessions.lock().unwrap()[0].clone();
        session.cancel(&client).await.unwrap();
        // The question after the stall finds it.
        let error = running.await.unwrap().unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::Cancelled, Some(status)));
        assert!(error.session().is_none());
        // To cancel it again changes nothing.
        session.cancel(&client).await.unwrap();
        assert_eq!(storage.names("b"), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_upload_cancels_its_session() {
    for is_universal in [false, true] {
        let storage = StorageEmulator::start();
        storage.fault(StorageFault::stall().on(StorageCall::Upload).at(KIB_256 as u64));
        let upload = upload_by(is_universal, content(SIZE));
        let running = tokio::spawn(upload.single_request_below(0).send(&client(&storage)));
        storage.stalled().await;
        assert_eq!(storage.open_uploads(), 1);
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
        while storage.open_uploads() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(calls(&storage).last().unwrap().0, StorageCall::CancelUpload);
    }
}

#[tokio::test(start_paused = true)]
async fn an_upload_goes_on_by_its_session_alone() {
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::status(403).on(StorageCall::Upload).at(2 * KIB_256 as u64));
    let error = to_object(content(SIZE)).single_request_below(0).send(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(403)));
    let uri = error.session().unwrap().expose_uri();
    for text in [format!("{error}"), format!("{error:?}"), format!("{}", error.report().unwrap())] {
        assert!(!text.contains("upload_id"), "{text}");
    }
    // A reader begins at the first byte here, too.
    let session = UploadSession::from_uri(&uri).unwrap();
    let source = UploadSource::reader(std::io::Cursor::new(content(SIZE)));
    let uploaded = Upload::resume(session.clone(), source).send(&client(&storage)).await.unwrap();
    assert_eq!((stored(&storage), uploaded.resumptions()), (content(SIZE), 1));

    // It is too late to cancel it: the object is there.
    let error = session.cancel(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(200)));
    assert!(error.to_string().ends_with("the upload has ended: its object exists"), "{error}");
    let started = calls(&storage).iter().filter(|(call, _)| *call == StorageCall::StartUpload).count();
    // Nobody knows how another session would be started.
    for status in [404, 410] {
        storage.fault(StorageFault::status(status).on(StorageCall::QueryUpload));
        let error = Upload::resume(session.clone(), content(SIZE)).send(&client(&storage)).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(status)), "{error}");
        assert!(error.session().is_none());
    }
    assert_eq!(calls(&storage).iter().filter(|(call, _)| *call == StorageCall::StartUpload).count(), started);
    assert!(calls(&storage).iter().all(|(call, _)| *call != StorageCall::Unknown));
}

#[tokio::test(start_paused = true)]
async fn little_goes_in_one_request_where_that_is_safe_to_retry() {
    use StorageCall::{Insert, StartUpload, Upload as Send};
    for (metadata, precondition, expected) in [
        ("", true, vec![Insert]),
        (r#"{"metadata":{"a":"b"}}"#, true, vec![Insert]),
        ("", false, vec![StartUpload, Send]),
    ] {
        let storage = StorageEmulator::start();
        let mut upload = to_object(content(1000)).content_type("text/plain").metadata(metadata);
        if precondition {
            upload = upload.query("ifGenerationMatch", "0");
        }
        let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
        upload.send(&with_layer(&storage, &layer)).await.unwrap();
        assert_eq!(calls(&storage).iter().map(|(call, _)| *call).collect::<Vec<_>>(), expected);
        assert_eq!(stored(&storage), content(1000));
    }
    // It is retried whole.
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::status(503).on(Insert));
    storage.fault(StorageFault::reset().on(Insert));
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
    let upload = to_object(UploadSource::reader(std::io::Cursor::new(content(1000))).with_size(1000));
    let upload = upload.query("ifGenerationMatch", "0");
    let uploaded = upload.send(&with_layer(&storage, &layer)).await.unwrap();
    assert_eq!((stored(&storage), uploaded.report().attempt_count()), (content(1000), 3));
}

#[tokio::test(start_paused = true)]
async fn one_request_whose_reply_is_lost_is_found_to_have_made_the_object() {
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
    for (is_ours, checksums) in
        [(true, Checksums::CRC32C), (false, Checksums::CRC32C), (true, Checksums::NONE)]
    {
        let storage = StorageEmulator::start();
        storage.fault(StorageFault::lost_reply().on(StorageCall::Insert));
        if !is_ours {
            storage.fault(StorageFault::overwrite(content(999)).on(StorageCall::Get));
        }
        let upload = to_object(content(1000)).query("ifGenerationMatch", "0").checksums(checksums);
        let result = upload.send(&with_layer(&storage, &layer)).await;
        if is_ours && checksums == Checksums::CRC32C {
            assert_eq!(result.unwrap().bytes(), 1000);
            assert_eq!(storage.arrivals().last().unwrap().call, StorageCall::Get);
        } else {
            let error = result.unwrap_err();
            assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(412)), "{error}");
        }
    }
}

#[derive(Default)]
struct Progressed(Mutex<Vec<(u32, u64, u32)>>);

impl OperationObserver for Progressed {
    fn attempt_event(&self, _: &OperationInfo, attempt: StartedAttempt, event: &dyn Event) {
        let report = event.downcast_ref::<TransferProgress>().unwrap();
        self.0.lock().unwrap().push((attempt.number(), report.bytes(), report.resumptions()));
    }
}

#[tokio::test(start_paused = true)]
async fn observers_are_notified_of_bytes_and_resumptions() {
    let observer = Arc::new(Progressed::default());
    let layer = HttpRetryLayer::preset(&presets::storage())
        .options(OperationOptions::new().observer(observer.clone()));
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::reset().on(StorageCall::Upload).at(KIB_256 as u64 + 1));
    let upload = to_object(content(SIZE)).single_request_below(0);
    upload.send(&with_layer(&storage, &layer)).await.unwrap();
    let piece = KIB_256 as u64;
    // The start, a request that breaks, the question, and the rest.
    assert_eq!(*observer.0.lock().unwrap(), [(1, 0, 0), (2, 0, 0), (3, piece, 0), (4, SIZE as u64, 1)]);
}

#[tokio::test(start_paused = true)]
async fn servers_that_claim_more_than_they_got_are_found_out() {
    for is_universal in [false, true] {
        for claimed in [SIZE as u64 + 1, 2 * KIB_256 as u64] {
            let storage = StorageEmulator::start();
            storage.fault(StorageFault::claimed(claimed).on(StorageCall::Upload));
            let source = UploadSource::reader(std::io::Cursor::new(content(SIZE)));
            let upload = upload_by(is_universal, source);
            let error = upload.chunk_size(KIB_256 as u64).send(&client(&storage)).await.unwrap_err();
            assert_eq!(error.kind(), TransferErrorKind::Malformed, "{claimed} {error}");
        }
    }
}

/// A 308 that names another place is a redirect.
#[tokio::test(start_paused = true)]
async fn an_upload_that_is_redirected_ends() {
    let storage = StorageEmulator::start();
    let elsewhere = http::HeaderValue::from_static("http://elsewhere.test/");
    let redirect = StorageFault::status(308).with_header(http::header::LOCATION, elsewhere);
    storage.fault(redirect.on(StorageCall::Upload));
    let error = to_object(content(SIZE)).single_request_below(0).send(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(308)));
    assert!(error.session().is_some());
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_universal_protocol_without_a_status_of_the_upload_is_final() {
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::status(503).on(StorageCall::Upload).bare());
    let error = universal(content(SIZE)).send(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(503)));
    assert_eq!(error.stop_reason(), Some(StopReason::NonRetryable));
}

#[tokio::test(start_paused = true)]
async fn headers_go_where_they_belong() {
    let storage = StorageEmulator::start();
    let upload = to_object(content(SIZE))
        .single_request_below(0)
        .header("authorization", "Bearer s3cret")
        .header("x-goog-if-generation-match", "0")
        .header("x-retry-test-id", "7");
    let debug = format!("{upload:?}");
    assert!(!debug.contains("s3cret"), "{debug}");
    storage.fault(StorageFault::reset().on(StorageCall::Upload).at(KIB_256 as u64));
    upload.send(&client(&storage)).await.unwrap();
    let arrivals = storage.arrivals();
    assert_eq!(arrivals.len(), 4);
    for (number, arrival) in arrivals.iter().enumerate() {
        assert_eq!(arrival.header("authorization"), Some("Bearer s3cret"));
        assert_eq!(arrival.header("x-retry-test-id"), Some("7"));
        assert_eq!(arrival.header("x-goog-if-generation-match").is_some(), number == 0);
        assert_eq!(arrival.header("x-guploader-no-308").is_some(), number > 0);
    }
    // A session in another place gets nothing of that.
    let storage = StorageEmulator::start();
    let location = "http://elsewhere.test/session".parse().unwrap();
    storage.fault(StorageFault::header(http::header::LOCATION, location).on(StorageCall::StartUpload));
    let upload = to_object(content(SIZE)).single_request_below(0).header("authorization", "Bearer s3cret");
    drop(upload.send(&client(&storage)).await);
    let elsewhere = storage.arrivals();
    let elsewhere: Vec<_> = elsewhere.iter().filter(|arrival| arrival.target.ends_with("/session")).collect();
    assert!(!elsewhere.is_empty());
    assert!(elsewhere.iter().all(|arrival| arrival.header("authorization").is_none()));
}

/// By whichever of the two it is given, and however the object is sent.
#[tokio::test(start_paused = true)]
async fn the_type_of_the_content_is_also_a_header() {
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
    for metadata in ["", "{}"] {
        for (is_universal, is_single) in [(false, true), (false, false), (true, false)] {
            let storage = StorageEmulator::start();
            let upload = upload_by(is_universal, content(10)).metadata(metadata);
            let upload = upload.header("content-type", "text/plain").query("ifGenerationMatch", "0");
            let upload = if is_single { upload } else { upload.single_request_below(0) };
            let uploaded = upload.send(&with_layer(&storage, &layer)).await.unwrap();
            assert_eq!(storage.arrivals().len(), if is_single { 1 } else { 2 });
            let resource: serde_json::Value = serde_json::from_slice(uploaded.response().body()).unwrap();
            assert_eq!(resource["contentType"], "text/plain", "{metadata} {is_universal} {is_single}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn options_that_can_not_work_send_nothing() {
    let storage = StorageEmulator::start();
    let chunk = |bytes| to_object(content(10)).chunk_size(bytes);
    for upload in [
        chunk(0),
        chunk(1000),
        to_object(content(10)).header("a b", "c"),
        to_object(content(10)).content_type("a\nb"),
        to_object(content(10)).metadata("no JSON"),
        Upload::to_object("no URI at all", "b", "o", "x"),
        Upload::to_object(ENDPOINT, "b", "a/..", "x"),
        Upload::to_object(ENDPOINT, "..", "o", "x"),
        Upload::to_object("ftp://storage.test", "b", "o", "x"),
    ] {
        let error = upload.send(&client(&storage)).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::Invalid, "{error}");
    }
    assert_eq!(storage.arrivals().len(), 0);
    // No checksum has to be written into it: what it means is the server's to say.
    let upload = to_object(content(10)).metadata("no JSON").checksums(Checksums::NONE);
    let error = upload.send(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), storage.arrivals().len()), (TransferErrorKind::Status, 1), "{error}");
}

#[tokio::test(start_paused = true)]
async fn progress_is_reported_as_it_is_made() {
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::reset().on(StorageCall::Upload).at(2 * KIB_256 as u64));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&seen);
    let upload = to_object(content(SIZE)).single_request_below(0).on_progress(move |progress| {
        known.lock().unwrap().push((progress.bytes(), progress.total(), progress.resumptions()));
    });
    upload.send(&client(&storage)).await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 3, "{seen:?}");
    assert_eq!(seen.last(), Some(&(SIZE as u64, Some(SIZE as u64), 1)));
    assert!(seen.iter().all(|(bytes, ..)| *bytes <= SIZE as u64));
    let goes_back = |pair: &[(u64, Option<u64>, u32)]| pair[1].0 < pair[0].0 && pair[1].2 == pair[0].2;
    assert!(!seen.windows(2).any(goes_back), "{seen:?}");
}

/// A chunk counts once, and neither the metadata nor the borders of a request's parts do.
#[tokio::test(start_paused = true)]
async fn progress_has_the_bytes_of_the_object_alone() {
    for (chunk, is_single) in [(Some(KIB_256), false), (None, false), (None, true)] {
        let (storage, seen) = (StorageEmulator::start(), Arc::new(Mutex::new(Vec::new())));
        let known = Arc::clone(&seen);
        let upload =
            to_object(content(SIZE)).metadata(format!(r#"{{"metadata":{{"a":"{}"}}}}"#, "b".repeat(9000)));
        let upload =
            upload.query("ifGenerationMatch", "0").single_request_below(if is_single { 1 << 20 } else { 0 });
        let upload = chunk.into_iter().fold(upload, |upload, chunk| upload.chunk_size(chunk as u64));
        let upload = upload.on_progress(move |progress| known.lock().unwrap().push(progress.bytes()));
        let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
        upload.send(&with_layer(&storage, &layer)).await.unwrap();
        let seen = seen.lock().unwrap();
        assert!(seen.is_sorted() && seen.iter().all(|bytes| *bytes <= SIZE as u64), "{seen:?}");
        assert_eq!(seen.last(), Some(&(SIZE as u64)));
    }
}
