//! Sources of uploads: of every size, and of another one than they say.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::object::{stored, to_object, upload_by};
use super::setup::{KIB_256, Scratch, client, content};
use bytes::Bytes;
use gax_http::{HttpRetryLayer, ReplayBody, presets};
use gax_testing::{StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{Checksums, TransferErrorKind, Upload, UploadSession, UploadSource};
use http_body_util::{BodyExt as _, Full};
use std::convert::Infallible;
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, UNIX_EPOCH};
use tokio::io::{AsyncWriteExt as _, ReadBuf};

const SIZE: usize = 3 * KIB_256 + 1000;

#[tokio::test(start_paused = true)]
async fn a_size_that_is_a_multiple_of_the_chunk() {
    for (size, is_universal, is_chunked) in [KIB_256, 2 * KIB_256]
        .into_iter()
        .flat_map(|size| [(size, false), (size, true)])
        .flat_map(|(size, is_universal)| [(size, is_universal, false), (size, is_universal, true)])
    {
        let cursor = || io::Cursor::new(content(size));
        for (name, source) in [
            ("bytes", UploadSource::from(content(size))),
            ("seekable", UploadSource::seekable(cursor())),
            ("reader", UploadSource::reader(cursor())),
            ("sized reader", UploadSource::reader(cursor()).with_size(size as u64)),
        ] {
            let storage = StorageEmulator::start();
            let upload = upload_by(is_universal, source);
            let upload = if is_chunked { upload.chunk_size(KIB_256 as u64) } else { upload };
            let uploaded = upload.single_request_below(0).send(&client(&storage)).await.unwrap();
            assert_eq!(stored(&storage), content(size), "{name} {size} {is_universal} {is_chunked}");
            assert_eq!(uploaded.bytes(), size as u64);
            if is_chunked {
                // The start, and no request but those with chunks.
                assert_eq!(storage.arrivals().len(), 1 + size / KIB_256, "{name} {size} {is_universal}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_object() {
    for is_universal in [false, true] {
        for source in [UploadSource::from(""), UploadSource::reader(tokio::io::empty())] {
            let storage = StorageEmulator::start();
            let upload = upload_by(is_universal, source);
            let uploaded = upload.single_request_below(0).send(&client(&storage)).await.unwrap();
            assert_eq!((stored(&storage), uploaded.bytes()), (Bytes::new(), 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_changes_its_size_makes_no_object() {
    // The last one ends while most of it is being sent.
    for size in [0, SIZE - 1, SIZE + 1, 2 * SIZE] {
        for seekable in [true, false] {
            let storage = StorageEmulator::start();
            let source = io::Cursor::new(content(SIZE));
            let source = if seekable { UploadSource::seekable(source) } else { UploadSource::reader(source) };
            let source = source.with_size(size as u64);
            let upload = upload_by(size == 0, source);
            let error = upload.single_request_below(0).send(&client(&storage)).await.unwrap_err();
            assert_eq!(error.kind(), TransferErrorKind::SourceChanged, "{size} {error}");
            assert_eq!(storage.names("b"), Vec::<String>::new());
        }
    }
    let error =
        to_object(UploadSource::file("/nowhere/at/all")).send(&client(&StorageEmulator::start())).await;
    assert_eq!(error.unwrap_err().kind(), TransferErrorKind::Source);
}

/// Its length is the same, and so is the checksum of what was read of it.
#[tokio::test(start_paused = true)]
async fn a_file_that_is_written_to_meanwhile_makes_no_object() {
    for (is_universal, is_chunked) in [(false, false), (false, true), (true, false), (true, true)] {
        let (file, storage) = (Scratch::new("source"), StorageEmulator::start());
        std::fs::write(file.path(), content(SIZE)).unwrap();
        std::fs::File::options().write(true).open(file.path()).unwrap().set_modified(UNIX_EPOCH).unwrap();
        storage.fault(StorageFault::stall().on(StorageCall::Upload).at(KIB_256 as u64));
        let upload = upload_by(is_universal, UploadSource::file(file.path())).single_request_below(0);
        let upload = if is_chunked { upload.chunk_size(KIB_256 as u64) } else { upload };
        let running = tokio::spawn(upload.send(&client(&storage)));
        storage.stalled().await;
        std::fs::write(file.path(), vec![7; SIZE]).unwrap();
        storage.disconnect();
        let error = running.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::SourceChanged, "{error}");
        assert!(error.to_string().ends_with("the source was written to while it was sent"), "{error}");
        assert!(!error.to_string().contains("an earlier attempt"), "{error}");
        assert_eq!(storage.names("b"), Vec::<String>::new());
    }
    // All of it was sent before: the object is there, and what is in the file is not known.
    let (file, storage) = (Scratch::new("source"), StorageEmulator::start());
    std::fs::write(file.path(), content(1000)).unwrap();
    std::fs::File::options().write(true).open(file.path()).unwrap().set_modified(UNIX_EPOCH).unwrap();
    storage.fault(StorageFault::delay(Duration::from_secs(1)).on(StorageCall::Upload));
    let upload = to_object(UploadSource::file(file.path())).single_request_below(0);
    let running = tokio::spawn(upload.send(&client(&storage)));
    tokio::time::sleep(Duration::from_millis(500)).await;
    std::fs::write(file.path(), vec![7; 1000]).unwrap();
    assert_eq!(running.await.unwrap().unwrap_err().kind(), TransferErrorKind::SourceChanged);
    // One that is replaced is sent as it was.
    let (file, storage) = (Scratch::new("source"), StorageEmulator::start());
    std::fs::write(file.path(), content(SIZE)).unwrap();
    storage.fault(StorageFault::stall().on(StorageCall::Upload).at(KIB_256 as u64));
    let upload = to_object(UploadSource::file(file.path())).single_request_below(0);
    let running = tokio::spawn(upload.send(&client(&storage)));
    storage.stalled().await;
    std::fs::write(file.beside("-new"), vec![7; SIZE]).unwrap();
    std::fs::rename(file.beside("-new"), file.path()).unwrap();
    storage.disconnect();
    running.await.unwrap().unwrap();
    assert_eq!(stored(&storage), content(SIZE));
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_with_a_name_is_a_reader() {
    let (pipe, storage) = (Scratch::new("pipe"), StorageEmulator::start());
    let made = std::process::Command::new("mkfifo").arg(pipe.path()).status();
    if !made.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: there is no mkfifo");
    }
    let writing = std::thread::spawn({
        let path = pipe.path();
        move || std::fs::write(path, content(SIZE)).unwrap()
    });
    let uploaded = to_object(UploadSource::file(pipe.path())).send(&client(&storage)).await.unwrap();
    writing.join().unwrap();
    assert_eq!((stored(&storage), uploaded.bytes()), (content(SIZE), SIZE as u64));
}

/// A source of 5 TiB, the longest object that Cloud Storage takes, of zeros.
struct Longest(u64);

const TIB_5: u64 = 5 << 40;

impl tokio::io::AsyncRead for Longest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        data: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = usize::try_from(TIB_5 - self.0).unwrap().min(data.remaining());
        data.initialize_unfilled_to(length);
        data.advance(length);
        self.0 += length as u64;
        Poll::Ready(Ok(()))
    }
}

impl tokio::io::AsyncSeek for Longest {
    fn start_seek(mut self: Pin<&mut Self>, place: SeekFrom) -> io::Result<()> {
        self.0 = match place {
            SeekFrom::Start(place) => place,
            SeekFrom::End(0) => TIB_5,
            _ => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.0))
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_longest_object() {
    let ranges = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&ranges);
    let server = tower::service_fn(move |request: http::Request<ReplayBody>| {
        let known = Arc::clone(&known);
        async move {
            let range = request.headers()["content-range"].to_str().unwrap().to_owned();
            let sent = request.into_body().collect().await.unwrap().to_bytes().len();
            known.lock().unwrap().push((range, sent));
            let mut response = http::Response::new(Full::<Bytes>::from("{\"size\":\"5497558138880\"}"));
            if sent == 0 {
                *response.status_mut() = http::StatusCode::PERMANENT_REDIRECT;
                response.headers_mut().insert("range", "bytes=0-5497558138869".parse().unwrap());
            }
            Ok::<_, Infallible>(response)
        }
    });
    let client = HttpRetryLayer::preset(&presets::storage()).layer(server);
    let session = UploadSession::from_uri("https://storage.test/session").unwrap();
    let upload = Upload::resume(session, UploadSource::seekable(Longest(0))).checksums(Checksums::NONE);
    assert_eq!(upload.send(&client).await.unwrap().bytes(), TIB_5);
    let expected = [("bytes */5497558138880", 0), ("bytes 5497558138870-5497558138879/5497558138880", 10)];
    assert_eq!(*ranges.lock().unwrap(), expected.map(|(range, sent)| (range.to_owned(), sent)));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_pauses_is_waited_for() {
    let storage = StorageEmulator::start();
    let (mut writer, reader) = tokio::io::duplex(1000);
    let writing = tokio::spawn(async move {
        for piece in content(SIZE).chunks(100_000) {
            writer.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_secs(50)).await;
        }
    });
    let upload = to_object(UploadSource::reader(reader)).chunk_size(KIB_256 as u64);
    upload.send(&client(&storage)).await.unwrap();
    writing.await.unwrap();
    assert_eq!(stored(&storage), content(SIZE));
}
