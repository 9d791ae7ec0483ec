//! The program `examples/storage_requests.rs`, run against the emulator with the public retry conformance cases S7 and S8.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use crate::storage_requests::replies;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gax_testing::{HttpChange, StorageCall, StorageEmulator, StorageFault};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use tonic_gax_tests::{FaultServer, HttpAct, HttpScript, TEST_ID};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

fn content(bytes: u64, seed: u64) -> Vec<u8> {
    (0..bytes).map(|place| u8::try_from((place * 31 + seed) % 251).unwrap()).collect()
}

fn sha256(content: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(content) {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

/// Runs one line, and returns what became of it.
async fn run(url: &str, line: &Value) -> Value {
    let options = ["--initial-retry-delay", "1ms", "--max-retry-delay=2ms"];
    let mut lines = replies(url, &options, &line.to_string()).await;
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}

/// Every fault has happened, and every request had the header with the id.
fn check(storage: &StorageEmulator, reply: &Value, id: &str) {
    assert_eq!(storage.faults_left(), 0, "{reply}");
    let arrivals = storage.arrivals();
    assert!(arrivals.iter().all(|arrival| arrival.header(TEST_ID) == Some(id)), "{arrivals:#?}");
    assert_eq!(reply["attempts"], arrivals.len(), "{reply}");
}

#[tokio::test]
async fn s7_a_resumable_upload() {
    let after = |bytes: u64| StorageFault::status(503).at(bytes);
    for (id, faults) in [
        ("s7-1", vec![StorageFault::reset(), StorageFault::status(503)]),
        ("s7-2", vec![StorageFault::status(408)]),
        ("s7-3", vec![after(256 * KIB)]),
        ("s7-4", vec![after(8 * MIB), StorageFault::status(408).on(StorageCall::QueryUpload)]),
    ] {
        let storage = StorageEmulator::start();
        let url = storage.listen().await.unwrap();
        for fault in faults {
            storage.fault(fault);
        }
        let upload = json!({
            "bucket": "bkt", "name": "a/o", "bytes": 9 * MIB, "seed": 7, "query": [["ifGenerationMatch", "0"]],
        });
        let reply = run(&url, &json!({ "id": id, "upload": upload, "headers": [[TEST_ID, id]] })).await;
        let whole = content(9 * MIB, 7);
        assert_eq!(
            (&reply["id"], &reply["ok"], &reply["status"]),
            (&json!(id), &json!(true), &json!(200)),
            "{reply}"
        );
        assert_eq!((&reply["bytes"], &reply["stop_reason"]), (&json!(9 * MIB), &Value::Null));
        assert_eq!(reply["sha256"], sha256(&whole));
        assert!(storage.object("bkt", "a/o").unwrap().content() == &whole);
        let object: Value = serde_json::from_str(reply["body"].as_str().unwrap()).unwrap();
        assert_eq!(object["name"], "a/o");
        check(&storage, &reply, id);
    }
}

/// A response as the testbench sends it: up to that many bytes, after which it closes the connection. Where it does so, a range has
/// the status of the whole.
fn media(whole: &[u8], begin: usize, sent: Option<usize>) -> HttpAct {
    let (status, size) = (if begin > 0 && sent.is_none() { 206 } else { 200 }, whole.len());
    let hash = STANDARD.encode(crc32c::crc32c(whole).to_be_bytes());
    let mut changes = vec![
        HttpChange::Status(status),
        HttpChange::Set("content-range", format!("bytes {begin}-{}/{size}", size - 1)),
        HttpChange::Set("x-goog-generation", "7".to_owned()),
        HttpChange::Set("x-goog-hash", format!("crc32c={hash}")),
        HttpChange::Set("x-goog-stored-content-length", size.to_string()),
        HttpChange::Body(whole[begin..].to_vec().into()),
    ];
    changes.extend(sent.map(HttpChange::Cut));
    HttpAct::Forward(changes)
}

#[tokio::test]
async fn s8_a_download() {
    const KIB_256: usize = 256 * 1024;
    let mut runs = 0;
    for bytes in [257, 300, 400, 512, 600, 768, 1000, 1024, 2048, 3000] {
        let whole = content(bytes * KIB, 3);
        for (id, breaks) in [("s8-1", vec![4, 4]), ("s8-2", vec![KIB_256])] {
            let (server, url) = FaultServer::on_socket(HttpScript::default()).await;
            let (mut acts, mut begin) = (Vec::new(), 0);
            for sent in breaks {
                acts.push(media(&whole, begin, Some(sent)));
                begin += sent;
            }
            acts.push(media(&whole, begin, None));
            let attempts = acts.len();
            server.script().add(id, acts);
            let download = json!({ "bucket": "bkt", "name": "a/o" });
            let line = json!({ "id": id, "download": download, "headers": [[TEST_ID, id]] });
            let reply = run(&url, &line).await;
            assert_eq!((&reply["ok"], &reply["bytes"]), (&json!(true), &json!(whole.len())), "{reply}");
            assert_eq!(
                (&reply["sha256"], &reply["attempts"]),
                (&json!(sha256(&whole)), &json!(attempts)),
                "{reply}"
            );
            assert_eq!(server.script().left(id), 0);
            let range = format!("bytes={begin}-");
            assert_eq!(server.arrivals().last().unwrap().header("range"), Some(&*range));
            runs += 1;
        }
    }
    assert_eq!(runs, 20);
}

#[tokio::test]
async fn a_transfer_that_fails_says_why() {
    let storage = StorageEmulator::start();
    let url = storage.listen().await.unwrap();
    let upload = json!({ "bucket": "b", "name": "o", "bytes": 5, "seed": 0 });
    for line in [
        json!({ "id": "1", "upload": upload }),
        json!({ "id": "1", "download": { "bucket": "b", "name": "o" } }),
    ] {
        storage.fault(StorageFault::status(400).with_body("no"));
        let reply = run(&url, &line).await;
        let seen = ["ok", "status", "attempts", "bytes", "body", "stop_reason"].map(|field| &reply[field]);
        let expected = [json!(false), json!(400), json!(1), json!(0), json!("no"), json!("NON_RETRYABLE")];
        assert_eq!(seen, expected.each_ref(), "{reply}");
        assert!(reply["error"].as_str().unwrap().contains("400"), "{reply}");
    }
}

#[tokio::test]
async fn a_transfer_that_is_not_valid_gets_an_error() {
    for (line, error) in [
        (json!({ "id": "1", "upload": {} }), "line 1: missing field `bytes`"),
        (
            json!({ "id": "1", "upload": { "bucket": "b", "name": "o", "bytes": -1, "seed": 0 } }),
            "line 1: invalid value: integer `-1`, expected u64",
        ),
        (
            json!({ "id": "1", "upload": { "bucket": "b", "name": "o", "bytes": 1_u64 << 40, "seed": 0 } }),
            "line 1: bytes is 1099511627776; the most is 1073741824, since they are in memory",
        ),
        (json!({ "id": "1", "download": { "bucket": "b" } }), "line 1: missing field `name`"),
    ] {
        let reply = run("http://localhost", &line).await;
        assert!(reply["error"].as_str().unwrap().starts_with(error), "{reply}");
    }
}
