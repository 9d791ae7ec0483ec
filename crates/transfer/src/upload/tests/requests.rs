//! The requests of an upload, and what is sent again.

use super::server::{
    Act, PIECE, SIZE, by_universal, content, is_made, requests, server, sources, sums, to_object, universal,
};
use crate::activity::Activity;
use crate::checksum::Checksums;
use crate::tests::Folder;
use crate::upload::body::UploadBody;
use crate::{TransferErrorKind, UploadSource};
use bytes::Bytes;
use gax_driver::__private::Clock;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use std::io::Cursor;

#[tokio::test(start_paused = true)]
async fn what_the_server_does_not_have_is_sent_again() {
    let folder = Folder::new();
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::NONE] {
        for (source, _) in sources(&folder) {
            let (server, client) = server(&[Act::Pass, Act::Lost(PIECE)]);
            let (mut seen, mut sessions) = (Vec::new(), Vec::new());
            let upload = to_object(source).single_request_below(0).checksums(checksums);
            let upload = upload.on_session(|session| sessions.push(session.expose_uri()));
            let upload = upload.on_progress(|progress| seen.push((progress.bytes(), progress.total())));
            let uploaded = upload.send(&client).await.unwrap();
            assert_eq!((is_made(&server), uploaded.bytes()), (true, SIZE as u64));
            assert_eq!((uploaded.resumptions(), uploaded.generation()), (1, Some(7)));
            assert_eq!(uploaded.report().method(), "POST /upload/storage/v1/b/b/o");
            assert_eq!(uploaded.is_verified(), checksums == Checksums::CRC32C);
            assert_eq!(uploaded.crc32c().is_some(), checksums == Checksums::CRC32C);
            drop(uploaded);
            let requests = requests(&server);
            assert!(requests[1].starts_with("PUT bytes 0-"), "{requests:?}");
            assert_eq!(requests[2], format!("PUT bytes */{SIZE}"));
            assert!(requests[3].starts_with(&format!("PUT bytes {PIECE}-")), "{requests:?}");
            assert!(requests.last().unwrap().ends_with(&format!("-{}/{SIZE}", SIZE - 1)), "{requests:?}");
            assert_eq!(sessions, ["http://storage.test/session"]);
            assert_eq!(seen.last(), Some(&(SIZE as u64, Some(SIZE as u64))), "{seen:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn chunks_are_sent_one_after_the_other() {
    let folder = Folder::new();
    for (source, can_seek) in sources(&folder) {
        let (server, client) = server(&[Act::Pass, Act::Pass, Act::Status(503), Act::Pass]);
        let upload = to_object(source).single_request_below(0).chunk_size(PIECE as u64);
        let uploaded = upload.send(&client).await.unwrap();
        assert_eq!((is_made(&server), uploaded.is_verified()), (true, true));
        let total = if can_seek { SIZE.to_string() } else { "*".to_owned() };
        let (one, two, last) = (PIECE, 2 * PIECE, SIZE - 1);
        assert_eq!(
            requests(&server),
            [
                "POST uploadType=resumable".to_owned(),
                format!("PUT bytes 0-{}/{total}", one - 1),
                format!("PUT bytes {one}-{}/{total}", two - 1),
                format!("PUT bytes */{total}"),
                format!("PUT bytes {one}-{}/{total}", two - 1),
                format!("PUT bytes {two}-{last}/{SIZE}"),
            ]
        );
    }
    // The universal protocol has its own granularity, and says what is last.
    for (source, _) in sources(&folder) {
        let (server, client) = universal(&[Act::Pass, Act::Pass, Act::Lost(PIECE)]);
        let upload = by_universal(source).chunk_size(PIECE as u64);
        let uploaded = upload.send(&client).await.unwrap();
        assert_eq!((is_made(&server), uploaded.is_verified()), (true, true));
        let requests = requests(&server);
        assert_eq!(requests[..3], ["POST start", "POST upload 0", "POST upload 262000"]);
        assert_eq!(
            (&requests[3..5], requests.last().map(|last| &**last)),
            (
                &["POST query".to_owned(), format!("POST upload {PIECE}")][..],
                Some(&*format!("POST upload, finalize {}", PIECE + 262_000))
            )
        );
    }
    // A source that can't go back is read 8 MiB at a time.
    let long = vec![0; 8 * 1024 * 1024 + 1];
    let (eight, client) = server(&[]);
    to_object(UploadSource::reader(Cursor::new(long))).send(&client).await.unwrap();
    assert_eq!(requests(&eight)[1..], ["PUT bytes 0-8388607/*", "PUT bytes 8388608-8388608/8388609"]);
    let (_server, client) = server(&[]);
    for chunk in [0, 1000, PIECE as u64 + 1] {
        let error = to_object(content()).chunk_size(chunk).send(&client).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::Invalid);
    }
}

/// Only its end can have a checksum that is known when all before it was read.
#[tokio::test(start_paused = true)]
async fn the_last_piece_is_apart_where_it_has_the_checksum() {
    let seekable = || UploadSource::seekable(Cursor::new(content()));
    let storage = || to_object(seekable()).single_request_below(0);
    let (start, whole) = ("POST uploadType=resumable", "PUT bytes 0-525287/525288");
    let (first, last) = ("PUT bytes 0-524287/525288", "PUT bytes 524288-525287/525288");
    let sum = sums(&content(), Checksums::CRC32C);
    for (upload, expected, hash) in [
        (storage(), &[start, first, last][..], &*sum),
        (storage().checksums(Checksums::NONE), &[start, whole], "-"),
        (to_object(content()).single_request_below(0), &[start, whole], &sum),
        (by_universal(seekable()), &["POST start", "POST upload, finalize 0"], ""),
    ] {
        let (server, client) = server(&[]);
        server.lock().unwrap().is_universal = expected[0] != start;
        upload.send(&client).await.unwrap();
        assert_eq!(
            (is_made(&server), requests(&server)),
            (true, expected.iter().map(|text| (*text).to_owned()).collect())
        );
        assert_eq!(server.lock().unwrap().hash, hash);
    }
}

#[tokio::test(start_paused = true)]
async fn metadata_has_to_be_an_object_that_checksums_can_join() {
    let with = |metadata: &'static str| to_object(content()).single_request_below(0).metadata(metadata);
    for (upload, expected) in [
        (with(r#"{"a":1}"#).checksums(Checksums::NONE), Some(r#"{"a":1}"#)),
        (with("no JSON").checksums(Checksums::NONE), Some("no JSON")),
        (with("").checksums(Checksums::NONE), Some("")),
        (with(r#"{"crc32c":"own"}"#), Some(r#"{"crc32c":"own"}"#)),
        (with("no JSON"), None),
        (with("[]"), None),
    ] {
        let (server, client) = server(&[]);
        let result = upload.send(&client).await;
        assert_eq!(result.is_ok(), expected.is_some());
        assert!(result.err().is_none_or(|error| error.kind() == TransferErrorKind::Invalid));
        assert_eq!(server.lock().unwrap().metadata, expected.unwrap_or_default());
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_source_is_one_request() {
    let folder = Folder::new();
    for (source, _) in sources(&folder) {
        let (server, client) = server(&[]);
        let upload = to_object(source.with_size(SIZE as u64)).query("ifGenerationMatch", "0");
        let upload = upload.content_type("text/plain").metadata("{}");
        let uploaded = upload.send(&client).await.unwrap();
        assert_eq!((is_made(&server), uploaded.is_verified()), (true, true));
        assert_eq!(requests(&server), ["POST uploadType=multipart"]);
        assert_eq!(uploaded.bytes(), SIZE as u64);
    }
    // Without its condition it could be made twice, and a source without a size may be long.
    let once = |source: UploadSource| to_object(source).query("ifGenerationMatch", "0");
    for (upload, is_single) in [
        (once(content().into()), true),
        (once(content().into()).single_request_below(SIZE as u64), true),
        (once(content().into()).single_request_below(SIZE as u64 - 1), false),
        (once(content().into()).single_request_below(0), false),
        (once("".into()).single_request_below(0), false),
        (once(UploadSource::reader(Cursor::new(content()))), false),
        (to_object(content()), false),
        (once(vec![0; 8 * 1024 * 1024].into()), true),
        (once(vec![0; 8 * 1024 * 1024 + 1].into()), false),
    ] {
        let (server, client) = server(&[]);
        upload.send(&client).await.unwrap();
        assert_eq!(requests(&server)[0] == "POST uploadType=multipart", is_single);
    }
    // Whether a lost reply was that of an object is looked up.
    for (act, expected) in [
        (Act::Lost(0), vec!["POST uploadType=multipart", "POST uploadType=multipart", "GET -"]),
        (Act::Page, vec!["POST uploadType=multipart", "GET -", "POST uploadType=multipart"]),
        (Act::Bare, vec!["POST uploadType=multipart", "GET -", "POST uploadType=multipart"]),
    ] {
        let (server, client) = server(&[act]);
        let uploaded = once(content().into()).send(&client).await.unwrap();
        assert!(uploaded.is_verified());
        assert_eq!(
            (is_made(&server), requests(&server)),
            (true, expected.iter().map(|text| (*text).to_owned()).collect())
        );
    }
    // Without a checksum nothing tells it from another one.
    let (bare, client) = server(&[Act::Bare]);
    once(content().into()).checksums(Checksums::NONE).send(&client).await.unwrap();
    assert_eq!(requests(&bare), ["POST uploadType=media"]);
    // With a session it can be asked for once more.
    let (bare, client) = server(&[Act::Pass, Act::Bare, Act::Bare]);
    to_object(content()).single_request_below(0).send(&client).await.unwrap();
    assert_eq!(requests(&bare)[1..], ["PUT bytes 0-525287/525288", "PUT bytes */525288"]);
    let (server, client) = server(&[Act::Lost(0)]);
    let error = once(content().into()).checksums(Checksums::NONE).send(&client).await.unwrap_err();
    assert_eq!((error.status(), requests(&server)), (Some(412), vec!["POST uploadType=media".to_owned(); 2]));
}

#[tokio::test(start_paused = true)]
async fn what_is_corrupted_on_the_way_is_sent_once_more() {
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::NONE] {
        for times in [1, 2] {
            let acts = [Act::Pass, Act::Corrupt].repeat(times);
            let (server, client) = server(&acts);
            let upload = to_object(content()).single_request_below(0).checksums(checksums);
            let result = upload.send(&client).await;
            let is_seen = checksums != Checksums::NONE;
            assert_eq!(result.is_ok(), times == 1 || !is_seen);
            assert_eq!(requests(&server).len(), if is_seen { 4 } else { 2 });
            if let Err(error) = result {
                assert_eq!((error.kind(), error.status()), (TransferErrorKind::ChecksumMismatch, Some(400)));
                assert!(error.session().is_none());
            }
        }
    }
    // Of a precondition that failed the status may be the same, and its text speaks of no checksum of ours.
    for (status, checksums, kind) in [
        (412, Checksums::CRC32C, TransferErrorKind::ChecksumMismatch),
        (403, Checksums::CRC32C, TransferErrorKind::Status),
        (412, Checksums::NONE, TransferErrorKind::Status),
    ] {
        let (_server, client) = server(&[Act::Pass, Act::Status(status), Act::Pass, Act::Status(status)]);
        let upload = to_object(content()).single_request_below(0).checksums(checksums);
        let error = upload.send(&client).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (kind, Some(status)));
        assert_eq!(error.session().is_some(), status == 403);
    }
    let (_server, client) = universal(&[Act::Pass, Act::Corrupt]);
    let error = by_universal(content()).send(&client).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ChecksumMismatch, "{error:?}");
}

/// It can't be sent again, so the connection has to know where it ends.
#[tokio::test]
async fn a_body_says_how_much_is_left() {
    let activity = Activity::begin(Clock::start());
    let mut body = UploadBody::of(["ab", "c"].map(Bytes::from).into(), &activity);
    for left in [3, 1, 0] {
        assert_eq!(
            (body.len(), body.size_hint().exact(), body.is_end_stream()),
            (left, Some(left), left == 0)
        );
        assert_eq!(body.frame().await.is_some(), left > 0);
    }
}
