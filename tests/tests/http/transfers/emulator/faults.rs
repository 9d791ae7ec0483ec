//! Faults at any byte.

use super::plain_client::{PlainClient, content};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use std::time::Duration;
use tonic_gax_tests::VirtualClock;

const CHUNK: usize = 256 * 1024;
const DOWNLOAD: &str = "/storage/v1/b/b/o/o?alt=media";
const QUERY: (u16, Option<&str>) = (308, Some("bytes=0-262143"));

#[tokio::test(start_paused = true)]
async fn an_upload_that_is_cut_keeps_whole_pieces_of_what_came() {
    for (granularity, place, persisted) in [
        (262_144, 0, None),
        (262_144, 262_143, None),
        (262_144, 262_144, Some("bytes=0-262143")),
        (262_144, 300_000, Some("bytes=0-262143")),
        (1, 300_000, Some("bytes=0-299999")),
        (1, 1, Some("bytes=0-0")),
    ] {
        let storage = StorageEmulator::start().granularity(granularity);
        for client in PlainClient::both(&storage) {
            let session = client.start("name=o", &[]).await;
            storage.fault(StorageFault::reset().at(place));
            let headers = [("content-range", "bytes 0-399999/400000")];
            let cut = client.try_send(Method::PUT, &session, &headers, content(400_000)).await;
            assert!(cut.is_none(), "{cut:?}");
            let status = client.status(&session).await;
            assert_eq!(status, (308, persisted.map(str::to_owned)), "{granularity} {place}");
            assert_eq!(storage.faults_left(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_status_after_so_many_bytes_keeps_them() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = client.start("name=o", &[]).await;
    let wait = HeaderValue::from_static("7");
    storage.fault(StorageFault::status(503).at(300_000).with_header(RETRY_AFTER, wait).with_body("busy"));
    let refused = client.put(&session, "bytes 0-399999/400000", &content(400_000)).await;
    assert_eq!(
        (refused.status, refused.header("retry-after"), &*refused.body),
        (503, Some("7"), &b"busy"[..])
    );
    let status = client.status(&session).await;
    assert_eq!((status.0, status.1.as_deref()), QUERY);
    let arrivals = storage.arrivals();
    assert_eq!(
        (arrivals[1].call, arrivals[1].received, arrivals[1].status),
        (StorageCall::Upload, 400_000, Some(503))
    );
}

#[tokio::test(start_paused = true)]
async fn an_early_status_comes_while_the_request_is_sent() {
    let storage = StorageEmulator::start();
    let [_, client] = PlainClient::both(&storage);
    let session = client.start("name=o", &[]).await;
    storage.fault(StorageFault::status(429).at(1000).early());
    let refused = client.put(&session, "bytes 0-399999/400000", &content(400_000)).await;
    assert_eq!(refused.status, 429);
    assert!(storage.arrivals()[1].received < 400_000);
}

#[tokio::test(start_paused = true)]
async fn the_place_of_a_fault_is_one_of_the_object_not_of_the_request() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = client.start("name=o", &[]).await;
    storage.fault(StorageFault::status(503).at(300_000));
    let bytes = content(2 * CHUNK);
    assert_eq!(client.put(&session, "bytes 0-262143/524288", &bytes[..CHUNK]).await.status, 308);
    assert_eq!(client.put(&session, "bytes 262144-524287/524288", &bytes[CHUNK..]).await.status, 503);
    assert_eq!(client.put(&session, "bytes 262144-524287/524288", &bytes[CHUNK..]).await.status, 200);

    storage.put("b", "o", bytes);
    storage.fault(StorageFault::reset().at(300_000));
    let part = client.get(DOWNLOAD, &[("range", "bytes=0-262143")]).await;
    assert!(part.is_whole);
    let part = client.get(DOWNLOAD, &[("range", "bytes=262144-")]).await;
    assert_eq!((part.is_whole, part.body.len()), (false, 300_000 - CHUNK));
}

#[tokio::test(start_paused = true)]
async fn a_lost_or_cut_reply_has_been_carried_out() {
    let storage = StorageEmulator::start();
    for client in PlainClient::both(&storage) {
        let session = client.start("name=o", &[]).await;
        storage.fault(StorageFault::lost_reply().on(StorageCall::Upload));
        let headers = [("content-range", "bytes 0-4/5")];
        assert!(client.try_send(Method::PUT, &session, &headers, "hello").await.is_none());
        let found = client.put(&session, "bytes */5", b"").await;
        assert_eq!((found.status, &found.json()["size"]), (200, &"5".into()));
        storage.fault(StorageFault::cut_reply(3).on(StorageCall::QueryUpload));
        let cut = client.put(&session, "bytes */5", b"").await;
        assert_eq!((cut.status, cut.is_whole, &*cut.body), (200, false, &b"{\"b"[..]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_download_is_reset_truncated_or_corrupted_at_a_byte() {
    let storage = StorageEmulator::start();
    let bytes = content(200_000);
    storage.put("b", "o", bytes.clone());
    for client in PlainClient::both(&storage) {
        for place in [0, 1, 65_536, 100_001, 199_999] {
            let end = usize::try_from(place).unwrap();
            storage.fault(StorageFault::reset().at(place));
            let cut = client.get(DOWNLOAD, &[]).await;
            assert_eq!((cut.is_whole, cut.body.len()), (false, end));
            assert!(bytes.starts_with(&cut.body));

            storage.fault(StorageFault::truncate(place));
            let truncated = client.get(DOWNLOAD, &[]).await;
            assert_eq!((truncated.status, truncated.is_whole), (200, true));
            assert_eq!(truncated.body, bytes[..end]);
            assert_eq!(truncated.header("content-length"), None);
            assert_eq!(truncated.header("x-goog-stored-content-length"), Some("200000"));

            storage.fault(StorageFault::corrupt(place));
            let corrupted = client.get(DOWNLOAD, &[]).await;
            let wrong: Vec<_> =
                (0..bytes.len()).filter(|&index| corrupted.body[index] != bytes[index]).collect();
            assert_eq!(wrong, [end]);
        }
    }
    let session = PlainClient::new(&storage).start("name=p", &[]).await;
    storage.fault(StorageFault::corrupt(3));
    PlainClient::new(&storage).put(&session, "bytes 0-4/5", b"hello").await;
    assert_eq!(storage.object("b", "p").unwrap().content()[..], [b'h', b'e', b'l', !b'l', b'o']);
}

#[tokio::test(start_paused = true)]
async fn ranges_are_ignored_or_begin_earlier() {
    let storage = StorageEmulator::start();
    storage.put("b", "o", "0123456789");
    let client = PlainClient::new(&storage);
    storage.fault(StorageFault::ignored_range());
    storage.fault(StorageFault::earlier_range(3));
    let headers = [("range", "bytes=5-")];
    let whole = client.get(DOWNLOAD, &headers).await;
    assert_eq!((whole.status, &*whole.body, whole.header("content-range")), (200, &b"0123456789"[..], None));
    let earlier = client.get(DOWNLOAD, &headers).await;
    assert_eq!((earlier.status, &*earlier.body), (206, &b"23456789"[..]));
    assert_eq!(earlier.header("content-range"), Some("bytes 2-9/10"));
    assert_eq!(client.get(DOWNLOAD, &headers).await.body, "56789");
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_chunk_is_persisted_or_another_number_claimed() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = client.start("name=o", &[]).await;
    storage.fault(StorageFault::persisted(2));
    let part = client.put(&session, "bytes 0-4/5", b"hello").await;
    assert_eq!((part.status, part.header("range")), (308, Some("bytes=0-1")));
    storage.fault(StorageFault::claimed(4));
    assert_eq!(client.status(&session).await, (308, Some("bytes=0-3".to_owned())));
    assert_eq!(client.put(&session, "bytes 2-4/5", b"llo").await.status, 200);
    assert_eq!(storage.object("b", "o").unwrap().content(), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_stall_is_waited_for_and_ends_with_the_connection() {
    let storage = StorageEmulator::start();
    storage.put("b", "o", content(100_000));
    for client in PlainClient::both(&storage) {
        let session = client.start("name=p", &[]).await;
        storage.fault(StorageFault::stall().on(StorageCall::Upload).at(70_000));
        let (uploading, upload) = (client.clone(), session.clone());
        let upload = tokio::spawn(async move {
            let headers = [("content-range", "bytes 0-99999/100000")];
            uploading.try_send(Method::PUT, &upload, &headers, content(100_000)).await.is_none()
        });
        storage.stalled().await;
        assert!(!upload.is_finished());
        storage.fault(StorageFault::stall().on(StorageCall::Download).at(70_000));
        let downloading = client.clone();
        let download = tokio::spawn(async move { downloading.get(DOWNLOAD, &[]).await });
        storage.stalled().await;
        storage.disconnect();
        assert!(upload.await.unwrap());
        let cut = download.await.unwrap();
        assert_eq!((cut.is_whole, cut.body.len()), (false, 70_000));
    }
}

#[tokio::test(start_paused = true)]
async fn faults_happen_in_order_to_the_requests_that_they_are_for() {
    let storage = StorageEmulator::start();
    storage.put("b", "o", "hello");
    storage.put("b", "p", "hello");
    storage.fault(StorageFault::status(500).object("p").times(2));
    storage.fault(StorageFault::status(501).on(StorageCall::Get).skip(1));
    storage.fault(StorageFault::delay(Duration::from_secs(3)).on(StorageCall::Download));
    let client = PlainClient::new(&storage);
    let mut statuses = Vec::new();
    for target in ["o", "p", "p", "p", "o", "o?alt=media"] {
        let clock = VirtualClock::start();
        statuses.push(client.get(&format!("/storage/v1/b/b/o/{target}"), &[]).await.status);
        assert_eq!(clock.elapsed().as_secs(), if target == "o?alt=media" { 3 } else { 0 });
    }
    assert_eq!((statuses, storage.faults_left()), (vec![200, 500, 500, 501, 200, 200], 0));
    storage.fault(StorageFault::status(503).always());
    for _ in 0..3 {
        assert_eq!(client.get("/storage/v1/b/b/o/o", &[]).await.status, 503);
    }
    assert_eq!(storage.faults_left(), 1);
}

#[tokio::test(start_paused = true)]
async fn headers_lie_objects_change_and_uploads_expire() {
    let storage = StorageEmulator::start();
    let old = storage.put("b", "o", "old");
    let client = PlainClient::new(&storage);
    let hash = HeaderName::from_static("x-goog-hash");
    storage.fault(StorageFault::header(hash.clone(), HeaderValue::from_static("crc32c=AAAAAA==")));
    storage.fault(StorageFault::without_header(hash));
    storage.fault(StorageFault::overwrite("newer"));
    assert_eq!(client.get(DOWNLOAD, &[]).await.header("x-goog-hash"), Some("crc32c=AAAAAA=="));
    assert_eq!(client.get(DOWNLOAD, &[]).await.header("x-goog-hash"), None);
    assert_eq!(client.get(&format!("{DOWNLOAD}&generation={old}"), &[]).await.status, 404);
    assert_eq!(client.get(DOWNLOAD, &[]).await.body, "newer");
    let session = client.start("name=o", &[]).await;
    storage.fault(StorageFault::expired(410));
    assert_eq!(client.put(&session, "bytes 0-4/5", b"hello").await.status, 410);
    assert_eq!(client.status(&session).await.0, 410);
}

#[tokio::test]
async fn it_listens_at_a_socket() {
    let storage = StorageEmulator::start();
    storage.put("b", "o", "hello");
    let url = storage.listen().await.unwrap();
    let response = reqwest::get(format!("{url}{DOWNLOAD}")).await.unwrap();
    assert_eq!((response.status(), response.text().await.unwrap()), (StatusCode::OK, "hello".to_owned()));
}
