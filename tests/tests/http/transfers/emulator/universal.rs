//! Google's universal protocol of uploads.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::plain_client::{PlainClient, Received, content};
use gax_testing::{StorageEmulator, StorageFault};
use http::Method;

const CHUNK: usize = 256 * 1024;

async fn start(client: &PlainClient, headers: &[(&str, &str)]) -> String {
    let fixed = [("x-goog-upload-protocol", "resumable"), ("x-goog-upload-command", "start")];
    let headers = [&fixed, headers].concat();
    let started = client.send(Method::POST, "/upload/storage/v1/b/b/o?name=o", &headers, "{}").await;
    assert_eq!((started.status, started.header("x-goog-upload-status")), (200, Some("active")));
    assert_eq!(started.header("x-goog-upload-chunk-granularity"), Some("262144"));
    assert_eq!(started.header("x-goog-upload-control-url"), started.header("x-goog-upload-url"));
    started.header("x-goog-upload-url").unwrap().to_owned()
}

async fn send(client: &PlainClient, session: &str, command: &str, offset: usize, body: &[u8]) -> Received {
    let offset = offset.to_string();
    let headers = [("x-goog-upload-command", command), ("x-goog-upload-offset", &*offset)];
    client.send(Method::POST, session, &headers, body.to_vec()).await
}

/// Status, upload status, and bytes received.
fn seen(reply: &Received) -> (u16, Option<&str>, Option<&str>) {
    (reply.status, reply.header("x-goog-upload-status"), reply.header("x-goog-upload-size-received"))
}

#[tokio::test(start_paused = true)]
async fn chunks_make_an_object() {
    let storage = StorageEmulator::start();
    for client in PlainClient::both(&storage) {
        let bytes = content(CHUNK + 3);
        let session = start(&client, &[("x-goog-upload-header-content-type", "text/plain")]).await;
        assert_eq!(seen(&send(&client, &session, "query", 0, b"").await), (200, Some("active"), Some("0")));
        let sent = send(&client, &session, "upload", 0, &bytes[..CHUNK]).await;
        assert_eq!(seen(&sent), (200, Some("active"), Some("262144")));
        let wrong = send(&client, &session, "upload", 0, &bytes[..CHUNK]).await;
        assert_eq!(seen(&wrong), (409, Some("active"), Some("262144")));
        let uneven = send(&client, &session, "upload", CHUNK, b"abc").await;
        assert_eq!(seen(&uneven), (400, None, None));
        let sent = send(&client, &session, "upload, finalize", CHUNK, &bytes[CHUNK..]).await;
        assert_eq!(
            (seen(&sent), &sent.json()["contentType"]),
            ((200, Some("final"), None), &"text/plain".into())
        );
        let query = send(&client, &session, "query", 0, b"").await;
        assert_eq!((seen(&query), &query.body), ((200, Some("final"), None), &sent.body));
        let late = send(&client, &session, "upload, finalize", CHUNK, b"").await;
        assert_eq!(seen(&late), (400, None, None));
        assert_eq!(storage.object("b", "o").map(|object| object.content().to_vec()), Some(bytes));
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_chunk_or_the_command_alone_finalizes() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    for command in ["upload, finalize", "finalize"] {
        let session = start(&client, &[]).await;
        send(&client, &session, "upload", 0, &content(CHUNK)).await;
        assert_eq!(seen(&send(&client, &session, command, CHUNK, b"").await), (200, Some("final"), None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_upload_is_gone_and_an_unknown_one_not_found() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = start(&client, &[]).await;
    assert_eq!(seen(&send(&client, &session, "cancel", 0, b"").await), (200, Some("cancelled"), None));
    assert_eq!(send(&client, &session, "query", 0, b"").await.status, 410);
    assert_eq!(send(&client, &session, "upload, finalize", 0, b"").await.status, 410);
    let unknown = "/upload/storage/v1/b/b/o?upload_id=x";
    assert_eq!(send(&client, unknown, "query", 0, b"").await.status, 404);
    assert_eq!(send(&client, unknown, "begin", 0, b"").await.status, 400);
    for headers in [&[][..], &[("x-goog-upload-command", "begin")]] {
        let headers = [&[("x-goog-upload-protocol", "resumable")], headers].concat();
        let reply = client.send(Method::POST, "/upload/storage/v1/b/b/o?name=o", &headers, "{}").await;
        assert_eq!(reply.status, 400, "{headers:?}");
    }
    assert_eq!(storage.open_uploads(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_status_that_is_bare_does_not_say_that_the_upload_goes_on() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let session = start(&client, &[]).await;
    storage.fault(StorageFault::status(503));
    storage.fault(StorageFault::status(503).bare());
    assert_eq!(seen(&send(&client, &session, "query", 0, b"").await), (503, Some("active"), None));
    assert_eq!(seen(&send(&client, &session, "query", 0, b"").await), (503, None, None));
}

#[tokio::test(start_paused = true)]
async fn the_declared_length_is_compared() {
    let client = PlainClient::new(&StorageEmulator::start());
    let session = start(&client, &[("x-goog-upload-header-content-length", "5")]).await;
    assert_eq!(send(&client, &session, "upload, finalize", 0, b"hell").await.status, 400);
    let session = start(&client, &[("x-goog-upload-header-content-length", "5")]).await;
    assert_eq!(send(&client, &session, "upload, finalize", 0, b"hello").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn an_upload_in_one_request_is_raw_or_multipart() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let target = "/upload/storage/v1/b/b/o?name=o";
    let raw = client.send(Method::POST, target, &[("x-goog-upload-protocol", "raw")], "hello").await;
    assert_eq!((raw.status, &raw.json()["size"]), (200, &"5".into()));
    let headers =
        [("x-goog-upload-protocol", "multipart"), ("content-type", "multipart/related; boundary=x")];
    let parts = "--x\r\n\r\n{\"name\":\"p\"}\r\n--x\r\n\r\nhello\r\n--x--";
    let multipart = client.send(Method::POST, "/upload/storage/v1/b/b/o", &headers, parts).await;
    assert_eq!((multipart.status, &multipart.json()["name"]), (200, &"p".into()));
}
