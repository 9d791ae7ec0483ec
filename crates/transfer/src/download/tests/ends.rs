//! Redirects, and where a download ends.

use super::server::{Act, TEXT, download, read, requests, server, sums};
use crate::checksum::Checksums;
use crate::tests::{Content, Folder, client_of};
use crate::{Download, TransferErrorKind};
use gax_driver::CallOptions;
use gax_retry::Code;
use http::header::{AUTHORIZATION, CONTENT_RANGE, ETAG, HOST, LOCATION, RANGE};
use http::{Request, Response};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;

#[tokio::test(start_paused = true)]
async fn redirects_are_followed_ten_times_and_no_secret_goes_with_them() {
    for (redirects, is_received) in [(1, true), (10, true), (11, false)] {
        let (server, client) = server(vec![(0, Act::To("/there")); redirects]);
        let result = download().to_bytes(&client).await;
        assert_eq!(result.is_ok(), is_received, "{redirects}");
        assert_eq!(requests(&server).len(), redirects + usize::from(is_received));
        if let Err(error) = result {
            assert_eq!((error.kind(), error.status()), (TransferErrorKind::Malformed, Some(307)));
        }
    }
    // A server that fails is not asked for ever because another one leads to it.
    let to = || (0, Act::To("/there"));
    let (one, client) = server([to(), (0, Act::Status(404))]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.kind(), requests(&one).len()), (TransferErrorKind::Status, 2));
    let (_server, client) = server([(0, Act::To("file:///there"))]);
    assert_eq!(download().to_bytes(&client).await.unwrap_err().kind(), TransferErrorKind::Malformed);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&seen);
    let client = client_of(move |request| {
        let is_there = request.uri().host() == Some("there.test");
        known.lock().unwrap().push((is_there, request.headers().contains_key(AUTHORIZATION)));
        assert!(!request.headers().contains_key(HOST));
        let response = Response::builder().header(ETAG, "\"1\"");
        Ok(if is_there {
            response.body(Content::whole(TEXT)).unwrap()
        } else {
            response.status(302).header(LOCATION, "http://there.test/o").body(Content::whole("")).unwrap()
        })
    });
    let request = Request::get("http://storage.test/o").header(AUTHORIZATION, "Bearer t").body(()).unwrap();
    Download::new(request).to_bytes(&client).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [(false, true), (true, false)]);
}

/// The proof is the object's, however the response ends.
#[tokio::test(start_paused = true)]
async fn all_bytes_and_their_checksum_are_the_end() {
    let folder = Folder::new();
    for act in [Act::Cut(10), Act::Stalled([3, 6, 10])] {
        for (is_named, has_checksum, parallel) in
            [(false, true, 0), (true, true, 0), (true, true, 3), (true, false, 0), (false, false, 0)]
        {
            if parallel > 0 && matches!(act, Act::Stalled(_)) {
                // A range ends with its last byte.
                continue;
            }
            let (server, client) = server([(0, act.clone()), (10, Act::Status(400))]);
            {
                let mut server = server.lock().unwrap();
                (server.has_length, server.has_checksum) = (!is_named, has_checksum);
                server.header = is_named.then_some(("x-goog-stored-content-length", "10"));
            }
            let result = download().parallel(parallel, 2).to_file(&client, folder.file("a")).await;
            if has_checksum {
                assert!(result.unwrap().is_verified());
                assert_eq!(read(&folder.file("a")), TEXT);
                assert!(requests(&server).iter().all(|request| !request.contains("bytes=10-")));
                std::fs::remove_file(folder.file("a")).unwrap();
            } else {
                // They may be other bytes of that length.
                assert_eq!(result.unwrap_err().status(), Some(400));
                assert!(folder.names().is_empty());
            }
        }
    }
}

/// The wait for the end of a response is never why a download that is whole fails.
#[tokio::test(start_paused = true)]
async fn the_end_is_awaited_within_the_time_that_is_left() {
    for timeout in [10, 400, 2000].map(Duration::from_millis) {
        let (_server, client) = server([(0, Act::Stalled([3, 6, 10]))]);
        let download = download().options(CallOptions::new().timeout(timeout));
        let (bytes, downloaded) = download.to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, downloaded.is_verified()), (TEXT, true), "{timeout:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn memory_has_a_limit() {
    for (most, has_length) in [(10, true), (9, true), (9, false), (10, false)] {
        let (server, client) = server([]);
        server.lock().unwrap().has_length = has_length;
        let result = download().max_bytes(most).to_bytes(&client).await;
        assert_eq!(result.is_ok(), most == 10);
        if let Err(error) = result {
            assert_eq!((error.kind(), error.bytes()), (TransferErrorKind::Sink, 0));
        }
        assert_eq!(requests(&server).len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_that_differ_from_the_checksum_are_no_object() {
    let folder = Folder::new();
    for parallel in [0, 3] {
        let client = client_of(|request| {
            let head =
                Response::builder().header("x-goog-generation", 1).header("x-goog-hash", sums(b"other"));
            let range = request.headers().get(RANGE).map(|range| range.to_str().unwrap());
            let Some((begin, last)) = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'))
            else {
                return Ok(head.body(Content::whole(TEXT)).unwrap());
            };
            let (begin, last): (usize, usize) = (begin.parse().unwrap(), last.parse().unwrap());
            let head = head.status(206).header(CONTENT_RANGE, format!("bytes {begin}-{last}/10"));
            Ok(head.body(Content::whole(&TEXT[begin..=last])).unwrap())
        });
        for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::NONE] {
            let download = download().checksums(checksums).parallel(parallel, 2);
            let result = download.to_file(&client, folder.file("a")).await;
            let kind = result.err().map(|error| error.kind());
            let is_compared = checksums != Checksums::NONE;
            assert_eq!(kind, is_compared.then_some(TransferErrorKind::ChecksumMismatch));
            assert_eq!(folder.names().is_empty(), is_compared);
        }
        std::fs::remove_file(folder.file("a")).unwrap();
        let download = download().resumable().parallel(parallel, 2);
        let error = download.to_file(&client, folder.file("a")).await.unwrap_err();
        assert_eq!((error.kind(), error.bytes()), (TransferErrorKind::ChecksumMismatch, 10));
        assert!(folder.names().is_empty());
    }
    // Nor is there anything to resume where not one byte has come.
    let (_server, client) = server([(0, Act::Cut(0)), (0, Act::Status(403))]);
    download().resumable().to_file(&client, folder.file("a")).await.unwrap_err();
    assert!(folder.names().is_empty());
}

/// Takes so many bytes, and then no more.
struct Full(usize, Option<io::ErrorKind>);

impl AsyncWrite for Full {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let taken = data.len().min(self.0).min(3);
        self.0 -= taken;
        Poll::Ready(match self.1 {
            Some(kind) if taken == 0 => Err(kind.into()),
            _ => Ok(taken),
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(if self.0 == 1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) })
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_fails_ends_the_download() {
    for (writer, bytes) in [
        (Full(4, None), Some(4)),
        (Full(4, Some(io::ErrorKind::BrokenPipe)), Some(4)),
        // It can't be flushed.
        (Full(11, None), Some(10)),
        (Full(10, None), None),
    ] {
        let (server, client) = server([]);
        let result = download().to_writer(&client, writer).await;
        if let Err(error) = &result {
            assert_eq!(error.report().unwrap().attempts()[0].code(), Code::FailedPrecondition);
        }
        let failed = result.err().map(|error| (error.kind(), error.bytes()));
        assert_eq!(failed, bytes.map(|bytes| (TransferErrorKind::Sink, bytes)));
        assert_eq!(requests(&server).len(), 1);
    }
}
