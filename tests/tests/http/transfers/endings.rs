//! Replies that prove that an upload is whole, and replies that do not.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "what fails here fails a test")]

use super::object::{stored, to_object, universal, upload_by};
use super::setup::{ENDPOINT, KIB_256, client, content, crc32c, with_layer, without_headers};
use base64::Engine as _;
use bytes::Bytes;
use gax_driver::CallOptions;
use gax_http::{HttpRetryLayer, HttpRetryService, ReplayBody, presets};
use gax_testing::{Pipes, StorageCall, StorageEmulator, StorageFault};
use gax_transfer::{Checksums, TransferErrorKind, TransferService, Upload, UploadSession, UploadSource};
use http::header::{HeaderValue, LOCATION};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt as _;
use tokio_stream::StreamExt as _;
use tonic_gax::Note;
use tonic_gax_tests::ms;

const SIZE: usize = 3 * KIB_256 + 1000;

/// The requests that have come.
fn calls(storage: &StorageEmulator) -> Vec<StorageCall> {
    storage.arrivals().iter().map(|arrival| arrival.call).collect()
}

/// Pages of proxies, other successes, and a second copy of the reply that started the session.
fn successes_without_object() -> Vec<StorageFault> {
    let location = HeaderValue::from_static("http://storage.test/other");
    vec![
        StorageFault::status(200),
        StorageFault::status(200).with_body("<html>Log in</html>"),
        StorageFault::status(201).with_body("{}"),
        StorageFault::status(202),
        StorageFault::status(204),
        StorageFault::status(200).with_header(LOCATION, location),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_success_without_an_object_is_followed_by_a_question() {
    use StorageCall::{QueryUpload, StartUpload, Upload as Send};
    for is_universal in [false, true] {
        for success in successes_without_object() {
            let storage = StorageEmulator::start();
            storage.fault(success.clone().bare().on(Send));
            let upload = upload_by(is_universal, content(SIZE)).single_request_below(0);
            let uploaded = upload.send(&client(&storage)).await.unwrap();
            assert_eq!(stored(&storage), content(SIZE), "{success:?}");
            assert_eq!((uploaded.is_verified(), uploaded.resumptions()), (true, 1));
            assert_eq!(calls(&storage), [StartUpload, Send, QueryUpload, Send]);
            // A gateway that drops the header of a 200 that stands for a 308 can't hide that one.
            let arrivals = storage.arrivals();
            let has_no_308 = |at: usize| arrivals[at].header("x-guploader-no-308").is_some();
            assert_eq!((has_no_308(1), has_no_308(2)), (!is_universal, false));

            // Whoever replies so to everything has no object.
            let storage = StorageEmulator::start();
            for call in [Send, QueryUpload] {
                let is_selection = success.clone().on(call).bare();
                storage.fault(is_selection.always());
            }
            let upload = upload_by(is_universal, content(SIZE)).single_request_below(0);
            match upload.send(&client(&storage)).await {
                Ok(uploaded) => {
                    // A selection of fields looks like this.
                    assert_eq!((uploaded.response().body(), is_universal), (&"{}".into(), false));
                    assert!(!uploaded.is_verified());
                }
                Err(error) => {
                    assert_eq!(error.kind(), TransferErrorKind::Malformed, "{success:?} {error}");
                    assert!(error.session().is_some());
                }
            }
            assert_eq!(calls(&storage), [StartUpload, Send, QueryUpload]);
        }
    }
}

/// The object is proved by what has come of the reply, whose end is missing.
#[tokio::test(start_paused = true)]
async fn a_proof_that_breaks_off_behind_it_is_one() {
    use StorageCall::{QueryUpload, StartUpload, Upload as Send};
    for is_universal in [false, true] {
        for (bytes, is_proved) in [(1 << 20, true), (10, false)] {
            let storage = StorageEmulator::start();
            storage.fault(StorageFault::cut_reply(bytes).on(Send));
            storage.fault(StorageFault::status(400).on(QueryUpload).always());
            let upload = upload_by(is_universal, content(SIZE)).single_request_below(0);
            let result = upload.send(&without_headers(&storage, &["content-length"])).await;
            if is_proved {
                assert!(result.unwrap().is_verified());
                assert_eq!(calls(&storage), [StartUpload, Send]);
            } else {
                assert_eq!(result.unwrap_err().status(), Some(400));
                assert_eq!(calls(&storage), [StartUpload, Send, QueryUpload]);
            }
        }
    }
}

/// The framing of a body whose end never comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// One byte less than `Content-Length`.
    Length,
    /// No last chunk.
    Chunked,
    /// HTTP/2 without `END_STREAM`.
    Stream,
}

/// A client whose server makes the object and says so by a reply that does not end. It knows no other request.
fn endless(framing: Framing) -> HttpRetryService<impl TransferService> {
    let reply = move |request: http::Request<hyper::body::Incoming>| async move {
        let response = http::Response::builder();
        if request.method() == http::Method::POST {
            let head = response.header(LOCATION, "http://storage.test/session");
            return Ok::<_, Infallible>(head.body(Full::default().boxed_unsync()).unwrap());
        }
        let range = request.headers()["content-range"].to_str().unwrap().to_owned();
        assert_eq!(range, format!("bytes 0-{}/{SIZE}", SIZE - 1));
        assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), content(SIZE));
        let resource = format!(r#"{{"size":"{SIZE}","crc32c":"{}"}}"#, sum());
        let length = resource.len() + 1;
        let frames =
            tokio_stream::once(Ok(Frame::data(Bytes::from(resource)))).chain(tokio_stream::pending());
        let has_length = framing == Framing::Length;
        let head = if has_length { response.header("content-length", length) } else { response };
        Ok(head.body(StreamBody::new(frames).boxed_unsync()).unwrap())
    };
    let (pipes, is_http2) = (Pipes::new(), framing == Framing::Stream);
    let mut incoming = pipes.incoming();
    tokio::spawn(async move {
        while let Some(Ok(io)) = incoming.next().await {
            let (io, service) = (TokioIo::new(io), hyper::service::service_fn(reply));
            tokio::spawn(async move {
                if is_http2 {
                    let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    server.serve_connection(io, service).await
                } else {
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service).await
                }
            });
        }
    });
    let client = Client::builder(TokioExecutor::new()).http2_only(is_http2).build::<_, ReplayBody>(pipes);
    HttpRetryLayer::preset(&presets::storage()).layer(client)
}

/// Its time is up long before that of a silent server.
#[tokio::test(start_paused = true)]
async fn a_proof_that_never_ends_is_one() {
    for framing in [Framing::Length, Framing::Chunked, Framing::Stream] {
        let upload = to_object(content(SIZE)).single_request_below(0);
        let upload = upload.options(CallOptions::new().timeout(ms(10_000)));
        let uploaded = upload.send(&endless(framing)).await.unwrap();
        // Nothing is asked after the start and the bytes.
        assert!(uploaded.is_verified() && uploaded.report().attempt_count() == 2, "{framing:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_request_is_followed_by_a_look_at_the_object() {
    use StorageCall::{Get, Insert};
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
    for success in successes_without_object() {
        let storage = StorageEmulator::start();
        storage.fault(success.clone().on(Insert));
        let upload = to_object(content(1000)).query("ifGenerationMatch", "0");
        let uploaded = upload.send(&with_layer(&storage, &layer)).await.unwrap();
        assert_eq!((stored(&storage), uploaded.is_verified()), (content(1000), true));
        assert_eq!(calls(&storage), [Insert, Get, Insert], "{success:?}");
        // That another object is there doesn't say what became of this one: the reply to the upload is why it is in doubt.
        let storage = StorageEmulator::start();
        storage.put("b", "folder/o", content(10));
        storage.fault(success.clone().on(Insert));
        let upload = to_object(content(1000)).query("ifGenerationMatch", "0");
        let error = upload.send(&with_layer(&storage, &layer)).await.unwrap_err();
        assert_eq!(
            (error.kind(), calls(&storage)),
            (TransferErrorKind::Malformed, vec![Insert, Get]),
            "{error}"
        );
        // Without a checksum it could not be recognised.
        let storage = StorageEmulator::start();
        storage.fault(success.clone().on(Insert));
        let upload = to_object(content(1000)).query("ifGenerationMatch", "0").checksums(Checksums::NONE);
        match upload.send(&with_layer(&storage, &layer)).await {
            Ok(uploaded) => {
                assert_eq!((&**uploaded.response().body(), uploaded.is_verified()), (&b"{}"[..], false));
            }
            Err(error) => assert_eq!(error.kind(), TransferErrorKind::Malformed),
        }
    }
}

/// A gateway takes the header away that says what a 200 stands for.
#[tokio::test(start_paused = true)]
async fn a_range_never_completes_an_upload() {
    for kept in [KIB_256 as u64, 0] {
        for chunk in [None, Some(KIB_256 as u64)] {
            let storage = StorageEmulator::start();
            storage.fault(StorageFault::persisted(kept));
            let upload = to_object(content(SIZE)).single_request_below(0);
            let upload = if let Some(chunk) = chunk { upload.chunk_size(chunk) } else { upload };
            let gateway = without_headers(&storage, &["x-http-status-code-override"]);
            let uploaded = upload.send(&gateway).await.unwrap();
            assert_eq!((stored(&storage), uploaded.is_verified()), (content(SIZE), true), "{kept} {chunk:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_comes_too_early_is_asked_for_again() {
    use StorageCall::{QueryUpload, StartUpload, Upload as Send};
    for is_universal in [false, true] {
        for is_always in [false, true] {
            let storage = StorageEmulator::start();
            storage.fault(StorageFault::reset().on(Send).at(KIB_256 as u64));
            let finished = StorageFault::status(200).bare().with_body(r#"{"generation":"7"}"#);
            let status = HeaderValue::from_static("final");
            let finished = finished.with_header("x-goog-upload-status".parse().unwrap(), status);
            let finished = finished.on(QueryUpload);
            storage.fault(if is_always { finished.always() } else { finished });
            let long = content(40 * KIB_256);
            let result = upload_by(is_universal, long.clone()).send(&client(&storage)).await;
            if is_always {
                let error = result.unwrap_err();
                assert_eq!(error.kind(), TransferErrorKind::Malformed);
                assert!(error.to_string().ends_with("before its last byte was sent"), "{error}");
                assert_eq!(calls(&storage), [StartUpload, Send, QueryUpload, QueryUpload]);
            } else {
                result.unwrap();
                assert_eq!(stored(&storage), long);
            }
        }
    }
}

/// Of a streamed request the connection had not taken that much.
#[tokio::test(start_paused = true)]
async fn claims_above_what_was_taken_are_refused() {
    for is_universal in [false, true] {
        let storage = StorageEmulator::start();
        storage.fault(StorageFault::reset().on(StorageCall::Upload).at(KIB_256 as u64));
        storage.fault(StorageFault::claimed(30 * KIB_256 as u64).on(StorageCall::QueryUpload));
        let error = upload_by(is_universal, content(40 * KIB_256)).send(&client(&storage)).await.unwrap_err();
        assert_eq!(error.kind(), TransferErrorKind::Malformed, "{error}");
    }
}

/// A server that starts a session, and has those replies to whatever comes then, the last one again and again; and the requests.
type Scripted<S> = (HttpRetryService<S>, Arc<Mutex<Vec<String>>>);

fn scripted(replies: &[(&'static [(&'static str, &'static str)], &str)]) -> Scripted<impl TransferService> {
    let replies: Vec<_> = replies.iter().map(|(headers, body)| (*headers, (*body).to_owned())).collect();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&requests);
    let server = tower::service_fn(move |request: http::Request<ReplayBody>| {
        let (replies, known) = (replies.clone(), Arc::clone(&known));
        async move {
            let (head, body) = request.into_parts();
            body.collect().await.unwrap();
            let mut response = http::Response::new(Full::<Bytes>::default());
            if head.method == http::Method::POST {
                response.headers_mut().insert(LOCATION, "http://storage.test/session".parse().unwrap());
                return Ok::<_, Infallible>(response);
            }
            let mut known = known.lock().unwrap();
            let (headers, body) = replies.get(known.len()).or(replies.last()).unwrap();
            known.push(head.headers["content-range"].to_str().unwrap().to_owned());
            for (name, value) in *headers {
                response.headers_mut().insert(*name, value.parse().unwrap());
            }
            *response.body_mut() = body.clone().into();
            Ok(response)
        }
    });
    (HttpRetryLayer::preset(&presets::storage()).layer(server), requests)
}

/// The CRC32C of the content as Cloud Storage writes it.
fn sum() -> String {
    base64::engine::general_purpose::STANDARD.encode(crc32c(&content(SIZE)).to_be_bytes())
}

#[tokio::test(start_paused = true)]
async fn an_object_is_known_by_its_headers_or_its_resource() {
    let resource = format!(r#"{{"crc32c":"{}"}}"#, sum());
    let length = "787432";
    assert_eq!(length, SIZE.to_string());
    let long: &'static [_] = &[("x-goog-stored-content-length", "787432")];
    let longer: &'static [_] = &[("x-goog-stored-content-length", "787433")];
    let sums: &'static [_] = &[("x-goog-hash", "crc32c=AAAAAA==")];
    let generation: &'static [_] = &[("x-goog-generation", "7")];
    for (headers, body, verified, requests) in [
        (&[][..], &*resource, Some(true), 1),
        // XML replies are empty.
        (long, "", Some(false), 1),
        (generation, "", Some(false), 1),
        // A selection of fields.
        (&[], r#"{"name":"o"}"#, Some(false), 2),
        (&[], "", None, 2),
        (longer, "", None, 2),
        (sums, "", None, 2),
    ] {
        let (client, seen) = scripted(&[(headers, body)]);
        let result =
            to_object(content(SIZE)).single_request_below(0).checksums(Checksums::CRC32C).send(&client).await;
        assert_eq!(
            result.as_ref().ok().map(gax_transfer::Transferred::is_verified),
            verified,
            "{headers:?} {body}"
        );
        let expected = ["bytes 0-787431/787432", "bytes */787432"];
        assert_eq!(*seen.lock().unwrap(), expected[..requests], "{headers:?} {body}");
        if let Err(error) = result {
            let is_silent = headers.is_empty();
            let kind =
                if is_silent { TransferErrorKind::Malformed } else { TransferErrorKind::ChecksumMismatch };
            assert_eq!(error.kind(), kind, "{error}");
        }
    }
}

/// Another reply's copy does not end the upload: the next one says how it stands.
#[tokio::test(start_paused = true)]
async fn a_reply_about_another_object_is_asked_for_again() {
    let resource = format!(r#"{{"crc32c":"{}"}}"#, sum());
    let (client, seen) = scripted(&[(&[], r#"{"crc32c":"AAAAAA==","size":"9"}"#), (&[], &resource)]);
    let uploaded = to_object(content(SIZE)).single_request_below(0).send(&client).await.unwrap();
    assert_eq!((uploaded.is_verified(), seen.lock().unwrap().len()), (true, 2));
}

/// Unless it is the same object: another process may have finished the session.
#[tokio::test(start_paused = true)]
async fn an_object_before_its_last_byte_is_refused() {
    let crc32c = sum();
    for (reply, checksums, is_the_same) in [
        (format!(r#"{{"crc32c":"{crc32c}","size":"{SIZE}"}}"#), Checksums::CRC32C, true),
        (format!(r#"{{"crc32c":"{crc32c}"}}"#), Checksums::NONE, false),
        (r#"{"crc32c":"AAAAAA=="}"#.to_owned(), Checksums::CRC32C, false),
        (format!(r#"{{"size":"{SIZE}"}}"#), Checksums::CRC32C, false),
        ("<html>".to_owned(), Checksums::CRC32C, false),
    ] {
        let source = UploadSource::seekable(std::io::Cursor::new(content(SIZE)));
        let upload = to_object(source).chunk_size(KIB_256 as u64).checksums(checksums);
        match upload.single_request_below(0).send(&scripted(&[(&[], &reply)]).0).await {
            Ok(uploaded) => assert!(is_the_same && uploaded.bytes() == SIZE as u64, "{reply}"),
            Err(error) => assert!(!is_the_same, "{error}"),
        }
    }
}

/// A process that goes on has not sent what another one has.
#[tokio::test(start_paused = true)]
async fn a_session_that_was_finished_before_is_whole() {
    let resource = format!(r#"{{"crc32c":"{}","size":"{SIZE}"}}"#, sum());
    let resume = |source: UploadSource| {
        let session = UploadSession::from_uri(&format!("{ENDPOINT}/session")).unwrap();
        Upload::resume(session, source)
    };
    for (reply, verified) in [(&*resource, true), (r#"{"generation":"7"}"#, false), ("{}", false)] {
        let (client, _) = scripted(&[(&[], reply)]);
        let uploaded = resume(content(SIZE).into()).send(&client).await.unwrap();
        assert_eq!((uploaded.bytes(), uploaded.is_verified()), (SIZE as u64, verified), "{reply}");
    }
    // A pipe is not waited for.
    let (writer, reader) = tokio::io::duplex(1000);
    let (client, _) = scripted(&[(&[], &resource)]);
    let uploaded = resume(UploadSource::reader(reader)).send(&client).await.unwrap();
    assert_eq!((uploaded.bytes(), uploaded.is_verified()), (SIZE as u64, false));
    drop(writer);
}

/// Nor is it where the server finishes too early.
#[tokio::test(start_paused = true)]
async fn a_pipe_that_pauses_does_not_hide_an_early_end() {
    let (mut writer, reader) = tokio::io::duplex(SIZE);
    writer.write_all(&content(2 * KIB_256)).await.unwrap();
    let (client, seen) = scripted(&[(&[], r#"{"crc32c":"AAAAAA==","size":"262144"}"#)]);
    let upload = to_object(UploadSource::reader(reader)).chunk_size(KIB_256 as u64);
    let error = upload.send(&client).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::Malformed, "{error}");
    assert_eq!(*seen.lock().unwrap(), ["bytes 0-262143/*", "bytes */*"]);
    drop(writer);
}

#[tokio::test(start_paused = true)]
async fn what_is_corrupted_on_the_way_is_sent_once_more() {
    use StorageCall::{Insert, StartUpload, Upload as Send};
    let cursor = || std::io::Cursor::new(content(SIZE));
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH] {
        for times in [1, 2] {
            for (name, source) in [
                ("bytes", UploadSource::from(content(SIZE))),
                ("seekable", UploadSource::seekable(cursor())),
                // Its only chunk is still in memory.
                ("reader", UploadSource::reader(cursor())),
            ] {
                let storage = StorageEmulator::start();
                storage.fault(StorageFault::corrupt(1234).on(Send).times(times));
                let upload = to_object(source).single_request_below(0).checksums(checksums);
                let result = upload.send(&client(&storage)).await;
                if times == 1 {
                    assert!(result.unwrap().is_verified(), "{name}");
                    assert_eq!(stored(&storage), content(SIZE));
                } else {
                    let error = result.unwrap_err();
                    assert_eq!(
                        (error.kind(), error.status()),
                        (TransferErrorKind::ChecksumMismatch, Some(400))
                    );
                    assert!(
                        !error.report().unwrap().notes().contains(&Note::EARLIER_ATTEMPT_MAY_HAVE_SUCCEEDED)
                    );
                    assert_eq!(storage.names("b"), Vec::<String>::new());
                }
                assert_eq!(calls(&storage).iter().filter(|call| **call == StartUpload).count(), 2, "{name}");
            }
        }
    }
    // A reader that has let go of its begin can't send it again.
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::corrupt(1234).on(Send));
    let upload = to_object(UploadSource::reader(cursor())).chunk_size(KIB_256 as u64);
    let error = upload.send(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::ChecksumMismatch, Some(400)));
    // One request is as good.
    let layer = HttpRetryLayer::preset(&presets::storage().with_host("storage.test"));
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::corrupt(400).on(Insert));
    let upload = to_object(content(1000)).query("ifGenerationMatch", "0");
    upload.send(&with_layer(&storage, &layer)).await.unwrap();
    assert_eq!((stored(&storage), calls(&storage)), (content(1000), vec![Insert, Insert]));
    // The testbench says it by the status of preconditions.
    let refused = StorageFault::status(412).with_body(r#"{"error":{"message":"crc32c validation failed"}}"#);
    let storage = StorageEmulator::start();
    storage.fault(refused.on(Send).always());
    let error = to_object(content(SIZE)).single_request_below(0).send(&client(&storage)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::ChecksumMismatch, Some(412)));
    assert!(error.report().unwrap().notes().is_empty() && error.session().is_none());
    // The universal protocol sends no checksums: what the server says of its object is compared.
    let storage = StorageEmulator::start();
    storage.fault(StorageFault::corrupt(1234).on(Send));
    let error = universal(content(SIZE)).send(&client(&storage)).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ChecksumMismatch);
}
