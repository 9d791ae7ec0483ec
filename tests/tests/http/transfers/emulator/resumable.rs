//! Cloud Storage's protocol of uploads that can be resumed.

use super::plain_client::{PlainClient, content};
use gax_testing::{StorageEmulator, StorageFault};
use http::Method;

const CHUNK: usize = 256 * 1024;

fn range(last: u64) -> (u16, Option<String>) {
    (308, Some(format!("bytes=0-{last}")))
}

#[tokio::test(start_paused = true)]
async fn chunks_make_an_object() {
    let storage = StorageEmulator::start();
    for client in PlainClient::both(&storage) {
        let bytes = content(2 * CHUNK + 3);
        let session = client.start("name=o", &[("x-upload-content-type", "text/plain")]).await;
        assert!(session.starts_with("http://storage.test/upload/storage/v1/b/b/o?"), "{session}");
        assert_eq!(client.status(&session).await, (308, None));
        let put = client.put(&session, "bytes 0-262143/*", &bytes[..CHUNK]).await;
        assert_eq!((put.status, put.header("range")), (308, Some("bytes=0-262143")));
        // Sent again: nothing changes.
        let put = client.put(&session, "bytes 0-262143/*", &bytes[..CHUNK]).await;
        assert_eq!((put.status, put.header("range")), (308, Some("bytes=0-262143")));
        // Beyond what is there.
        let put = client.put(&session, "bytes 524288-524290/524291", &bytes[2 * CHUNK..]).await;
        assert_eq!(put.status, 503);
        // A part of it again, and more.
        let put = client.put(&session, "bytes 131072-524287/524291", &bytes[CHUNK / 2..2 * CHUNK]).await;
        assert_eq!((put.status, put.header("range")), (308, Some("bytes=0-524287")));
        assert_eq!((client.status(&session).await, storage.open_uploads()), (range(524_287), 1));
        let put = client.put(&session, "bytes 524288-524290/524291", &bytes[2 * CHUNK..]).await;
        assert_eq!((put.status, &put.json()["size"]), (200, &"524291".into()));
        assert_eq!(client.status(&session).await.0, 200);
        let again = client.put(&session, "bytes 524288-524290/524291", &bytes[2 * CHUNK..]).await;
        assert_eq!(again.body, put.body, "the object is found again");
        assert_eq!(storage.object("b", "o").map(|object| object.content().to_vec()), Some(bytes));
        assert_eq!(storage.open_uploads(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn one_request_makes_an_object_with_and_without_its_length() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    for (index, headers) in
        [&[][..], &[("content-range", "bytes 0-*/*")], &[("content-range", "bytes 0-*/5")]].iter().enumerate()
    {
        let session = client.start(&format!("name={index}"), &[("x-upload-content-length", "5")]).await;
        assert_eq!(client.send(Method::PUT, &session, headers, "hello").await.status, 200, "{headers:?}");
    }
    let session = client.start("name=empty", &[]).await;
    assert_eq!(client.put(&session, "bytes */0", b"").await.status, 200);
    assert_eq!(storage.names("b"), ["0", "1", "2", "empty"]);
}

#[tokio::test(start_paused = true)]
async fn one_byte_that_was_persisted_is_the_range_from_zero_to_zero() {
    let storage = StorageEmulator::start().granularity(1);
    let client = PlainClient::new(&storage);
    let session = client.start("name=o", &[]).await;
    storage.fault(StorageFault::reset().at(1));
    let headers = [("content-range", "bytes 0-4/5")];
    assert!(client.try_send(Method::PUT, &session, &headers, "hello").await.is_none());
    assert_eq!(client.status(&session).await, range(0));
    assert_eq!(client.put(&session, "bytes 1-4/5", b"ello").await.status, 200);
    assert_eq!(storage.object("b", "o").map(|object| object.content().clone()), Some("hello".into()));
}

#[tokio::test(start_paused = true)]
async fn requests_that_make_no_sense_are_refused() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = client.start("name=o", &[("x-upload-content-length", "5")]).await;
    for (header, body, status) in [
        ("bytes 0-4/6", &b"hello"[..], 400),
        ("bytes 0-3/5", b"hell", 400),
        ("bytes 0-4/5", b"hello?", 400),
        ("bytes=0-4/5", b"hello", 400),
    ] {
        assert_eq!(client.put(&session, header, body).await.status, status, "{header}");
    }
    // Nothing of them counts.
    assert_eq!(client.status(&session).await, (308, None));
    assert_eq!(client.send(Method::PUT, "/upload/storage/v1/b/b/o?upload_id=x", &[], "").await.status, 404);
    assert_eq!(client.send(Method::PATCH, &session, &[], "").await.status, 404);
    assert!(storage.names("b").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_upload_replies_499_and_an_expired_one_404_or_410() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = client.start("name=o", &[]).await;
    assert_eq!(client.send(Method::DELETE, &session, &[], "").await.status, 499);
    assert_eq!(client.put(&session, "bytes 0-4/5", b"hello").await.status, 499);
    assert_eq!(client.status(&session).await.0, 499);
    for status in [404, 410] {
        let session = client.start("name=o", &[]).await;
        storage.expire_uploads(status);
        assert_eq!(client.put(&session, "bytes 0-4/5", b"hello").await.status, status);
        assert_eq!(client.status(&session).await.0, status);
    }
    assert!(storage.names("b").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_follows_redirects_gets_200_and_an_override() {
    let client = PlainClient::new(&StorageEmulator::start());
    let session = client.start("name=o", &[]).await;
    let headers = [("content-range", "bytes */*"), ("x-guploader-no-308", "yes")];
    let reply = client.send(Method::PUT, &session, &headers, "").await;
    assert_eq!((reply.status, reply.header("x-http-status-code-override")), (200, Some("308")));
}

#[tokio::test(start_paused = true)]
async fn checksums_of_the_start_and_of_the_last_chunk_are_compared() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    for (start, last, status) in [
        ("crc32c=mnG7TA==", "", 200),
        ("crc32c=AAAAAA==", "", 400),
        ("", "crc32c=AAAAAA==", 400),
        ("", "md5=XUFAKrxLKna5cZ2REBfFkg==", 200),
    ] {
        let session = client.start("name=o", &[("x-goog-hash", start)]).await;
        let headers = [("content-range", "bytes 0-4/5"), ("x-goog-hash", last)];
        assert_eq!(
            client.send(Method::PUT, &session, &headers, "hello").await.status,
            status,
            "{start} {last}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_is_looked_at_when_the_upload_starts_and_when_it_ends() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = client.start("name=o&ifGenerationMatch=0", &[]).await;
    storage.put("b", "o", "faster");
    assert_eq!(client.put(&session, "bytes 0-4/5", b"hello").await.status, 412);
    let target = "/upload/storage/v1/b/b/o?uploadType=resumable&name=o&ifGenerationMatch=0";
    assert_eq!(client.send(Method::POST, target, &[], "").await.status, 412);
    assert_eq!(storage.object("b", "o").map(|object| object.content().clone()), Some("faster".into()));
}
