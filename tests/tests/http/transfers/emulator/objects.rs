//! Objects: inserted, read, described, listed, deleted.

use super::plain_client::{PlainClient, content};
use gax_testing::{StorageCall, StorageEmulator, StorageObject};
use http::Method;
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn an_object_is_inserted_as_media_or_multipart() {
    let storage = StorageEmulator::start();
    for client in PlainClient::both(&storage) {
        let media = "/upload/storage/v1/b/b/o?uploadType=media&name=a%2Fb+c";
        let reply = client.send(Method::POST, media, &[("content-type", "text/plain")], "hello").await;
        assert_eq!(reply.status, 200);
        let object = storage.object("b", "a/b c").unwrap();
        let resource = reply.json();
        let fields = ["name", "bucket", "size", "contentType", "crc32c", "md5Hash", "generation"];
        assert_eq!(
            fields.map(|field| resource[field].as_str().unwrap().to_owned()),
            [
                "a/b c",
                "b",
                "5",
                "text/plain",
                "mnG7TA==",
                "XUFAKrxLKna5cZ2REBfFkg==",
                &*object.generation().to_string()
            ]
        );

        let body = "--x\r\ncontent-type: application/json\r\n\r\n{\"name\":\"m\",\"metadata\":{\"k\":\"v\"}}\r\n\
                    --x\r\ncontent-type: image/png\r\n\r\n\x01\x02\r\n--x--";
        let headers = [("content-type", "multipart/related; boundary=x")];
        let reply =
            client.send(Method::POST, "/upload/storage/v1/b/b/o?uploadType=multipart", &headers, body).await;
        assert_eq!((reply.status, &reply.json()["metadata"]), (200, &json!({"k": "v"})));
        let object = storage.object("b", "m").unwrap();
        assert_eq!(
            (object.content().to_vec(), object.field("metadata")),
            (vec![1, 2], Some(&json!({"k": "v"})))
        );
    }
    assert_eq!(storage.names("b"), ["a/b c", "m"]);
}

#[tokio::test(start_paused = true)]
async fn an_object_with_another_checksum_is_refused() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    for (hash, status) in [
        ("crc32c=mnG7TA==", 200),
        ("crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==", 200),
        ("crc32c=AAAAAA==", 400),
        ("crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkQ==", 400),
    ] {
        let target = format!("/upload/storage/v1/b/b/o?uploadType=media&name={status}");
        let reply = client.send(Method::POST, &target, &[("x-goog-hash", hash)], "hello").await;
        assert_eq!(reply.status, status, "{hash}");
    }
    assert_eq!(storage.names("b"), ["200"]);
}

#[tokio::test(start_paused = true)]
async fn an_upload_without_a_name_or_with_malformed_parts_is_refused() {
    let client = PlainClient::new(&StorageEmulator::start());
    for (query, body, message) in [
        ("uploadType=media", "hello", "Required object name."),
        ("uploadType=multipart&name=a", "hello", "Malformed multipart body."),
        ("uploadType=resumable&name=a", "[1]", "Parse Error: the metadata is not a JSON object."),
        ("uploadType=resumable", "{}", "Required object name."),
        ("uploadType=other&name=a", "", "Not Found"),
    ] {
        let target = format!("/upload/storage/v1/b/b/o?{query}");
        let reply = client.send(Method::POST, &target, &[], body).await;
        assert_eq!(reply.json()["error"]["message"], message, "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_content_is_read_whole_or_in_a_range() {
    let storage = StorageEmulator::start();
    let bytes = content(200_000);
    let generation = storage.put("b", "o", bytes.clone());
    let etag = format!("\"{generation}/1\"");
    for client in PlainClient::both(&storage) {
        let target = "/storage/v1/b/b/o/o?alt=media";
        let whole = client.get(target, &[]).await;
        assert_eq!((whole.status, whole.body.to_vec(), whole.is_whole), (200, bytes.clone(), true));
        assert_eq!(whole.header("content-length"), Some("200000"));
        assert_eq!(whole.header("x-goog-generation"), Some(&*generation.to_string()));
        assert_eq!(whole.header("x-goog-stored-content-length"), Some("200000"));
        assert_eq!(whole.header("etag"), Some(&*etag));
        let object = storage.object("b", "o").unwrap();
        let hashes = format!("crc32c={},md5={}", object.crc32c().unwrap(), object.md5().unwrap());
        assert_eq!(whole.header("x-goog-hash"), Some(&*hashes));

        for (range, if_range, status, content_range, body) in [
            ("bytes=5-9", &*etag, 206, Some("bytes 5-9/200000"), &bytes[5..10]),
            ("bytes=199998-", &etag, 206, Some("bytes 199998-199999/200000"), &bytes[199_998..]),
            ("bytes=-1", &etag, 206, Some("bytes 199999-199999/200000"), &bytes[199_999..]),
            ("bytes=5-9", "\"other\"", 200, None, &bytes[..]),
            ("bytes=5-9,11-12", &etag, 200, None, &bytes[..]),
        ] {
            let part = client.get(target, &[("range", range), ("if-range", if_range)]).await;
            assert_eq!((part.status, part.header("content-range")), (status, content_range), "{range}");
            assert_eq!(part.body, body, "{range}");
        }
        let beyond = client.get(target, &[("range", "bytes=200000-")]).await;
        assert_eq!((beyond.status, beyond.header("content-range")), (416, Some("bytes */200000")));
        assert_eq!(client.get("/download/storage/v1/b/b/o/o?alt=media", &[]).await.body, bytes);
        assert_eq!(client.get(target, &[("if-match", "\"other\"")]).await.status, 412);
        assert_eq!(client.get(target, &[("if-none-match", &etag)]).await.status, 304);
    }
}

#[tokio::test(start_paused = true)]
async fn conditions_and_generations_are_kept() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let old = storage.put("b", "o", "old");
    let new = storage.put("b", "o", "new");
    assert_eq!(new, old + 1);
    for (query, status) in [
        (format!("generation={new}"), 200),
        (format!("generation={old}"), 404),
        ("generation=x".to_owned(), 400),
        (format!("ifGenerationMatch={new}"), 200),
        (format!("ifGenerationMatch={old}"), 412),
        (format!("ifGenerationNotMatch={new}"), 304),
        ("ifMetagenerationMatch=1".to_owned(), 200),
        ("ifMetagenerationMatch=2".to_owned(), 412),
        ("ifMetagenerationNotMatch=1".to_owned(), 304),
        ("ifGenerationMatch=x".to_owned(), 400),
        ("ifMetagenerationNotMatch=".to_owned(), 400),
    ] {
        for target in ["/storage/v1/b/b/o/o?alt=media&", "/storage/v1/b/b/o/o?"] {
            assert_eq!(client.get(&format!("{target}{query}"), &[]).await.status, status, "{query}");
        }
    }
    for (query, status) in [
        ("ifGenerationMatch=x".to_owned(), 400),
        ("ifGenerationMatch=0".to_owned(), 412),
        (format!("ifGenerationMatch={old}"), 412),
        (format!("ifGenerationMatch={new}"), 200),
        (format!("ifGenerationMatch={new}"), 412),
    ] {
        let target = format!("/upload/storage/v1/b/b/o?uploadType=media&name=o&{query}");
        assert_eq!(client.send(Method::POST, &target, &[], "newer").await.status, status, "{query}");
    }
    let target = format!("/storage/v1/b/b/o/o?ifGenerationMatch={new}");
    assert_eq!(client.send(Method::DELETE, &target, &[], "").await.status, 412);
    assert_eq!(client.send(Method::DELETE, "/storage/v1/b/b/o/o", &[], "").await.status, 204);
    assert_eq!(client.send(Method::DELETE, "/storage/v1/b/b/o/o", &[], "").await.status, 404);
    assert_eq!(client.get("/storage/v1/b/b/o/o", &[]).await.status, 404);
    assert_eq!(client.get("/storage/v2/b", &[]).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_compressed_object_is_decompressed_on_the_way() {
    let storage = StorageEmulator::start();
    let bytes = content(100_000);
    storage.put("b", "o", StorageObject::new(bytes.clone()).content_type("text/plain").gzip());
    let object = storage.object("b", "o").unwrap();
    let stored = object.content().len();
    assert!(stored < 100_000);
    for client in PlainClient::both(&storage) {
        let target = "/storage/v1/b/b/o/o?alt=media";
        let plain = client.get(target, &[("range", "bytes=5-9")]).await;
        assert_eq!((plain.status, &*plain.body), (200, &*bytes), "ranges are ignored");
        assert_eq!(plain.header("content-encoding"), None);
        assert_eq!(plain.header("content-length"), None);
        assert_eq!(plain.header("x-goog-stored-content-encoding"), Some("gzip"));
        assert_eq!(plain.header("x-goog-stored-content-length"), Some(&*stored.to_string()));
        let of_stored = format!("crc32c={},", object.crc32c().unwrap());
        assert!(plain.header("x-goog-hash").unwrap().starts_with(&of_stored));

        let headers = [("accept-encoding", "br, gzip"), ("range", "bytes=5-9")];
        let compressed = client.get(target, &headers).await;
        assert_eq!((compressed.status, &*compressed.body), (206, &object.content()[5..10]));
        assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_with_a_key_is_read_with_that_key_only() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    let key = ("x-goog-encryption-key-sha256", "hash");
    let session = client.start("name=o", &[key]).await;
    let made = client.put(&session, "bytes 0-4/5", b"hello").await;
    assert_eq!(made.json()["customerEncryption"]["keySha256"], "hash");
    let target = "/storage/v1/b/b/o/o?alt=media";
    assert_eq!(client.get(target, &[]).await.status, 400);
    assert_eq!(client.get(target, &[("x-goog-encryption-key-sha256", "other")]).await.status, 400);
    assert_eq!(client.get(target, &[key]).await.body, "hello");
}

#[tokio::test(start_paused = true)]
async fn a_list_has_pages_prefixes_and_folders() {
    let storage = StorageEmulator::start();
    let client = PlainClient::new(&storage);
    for name in ["a", "b/1", "b/2", "b/c/3", "d", "e/4"] {
        storage.put("b", name, "x");
    }
    storage.put("other", "f", "x");
    for (query, most, pages) in [
        ("", 4, vec!["a b/1 b/2 b/c/3", "d e/4"]),
        ("delimiter=/", 2, vec!["a b/", "d e/"]),
        ("delimiter=/", 1, vec!["a", "b/", "d", "e/"]),
        ("prefix=b/&delimiter=/", 9, vec!["b/1 b/2 b/c/"]),
        ("prefix=b/", 9, vec!["b/1 b/2 b/c/3"]),
        ("prefix=z", 9, vec![""]),
    ] {
        let (mut seen, mut token) = (Vec::new(), String::new());
        loop {
            let target = format!("/storage/v1/b/b/o?{query}&maxResults={most}&pageToken={token}");
            let page = client.get(&target, &[]).await.json();
            let items = page["items"].as_array().into_iter().flatten();
            let names = items.map(|item| item["name"].as_str().unwrap());
            let prefixes = page["prefixes"].as_array().into_iter().flatten();
            let mut all: Vec<_> = names.chain(prefixes.map(|prefix| prefix.as_str().unwrap())).collect();
            all.sort_unstable();
            seen.push(all.join(" "));
            match page["nextPageToken"].as_str() {
                Some(next) => token = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(seen, pages, "{query} {most}");
    }
    assert_eq!(client.get("/storage/v1/b/b/o?maxResults=0", &[]).await.status, 400);
    assert!(storage.arrivals().iter().all(|arrival| arrival.call == StorageCall::List));
}
