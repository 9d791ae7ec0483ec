//! Uploads to a server in memory, which refuses, keeps less than it gets, and is asked how much it has.

use crate::activity::Activity;
use crate::checksum::{Checksums, Hasher};
use crate::tests::{Content, Folder, client_of};
use crate::upload::body::UploadBody;
use crate::{TransferErrorKind, TransferService, Upload, UploadSession, UploadSource};
use bytes::Bytes;
use gax_driver::__house::Clock;
use gax_driver::CallOptions;
use gax_http::HttpRetryService;
use gax_wire::__house::BoxError;
use http::header::{AUTHORIZATION, CONTENT_RANGE, LOCATION, RANGE};
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use std::io::Cursor;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

const PIECE: usize = 256 * 1024;
const SIZE: usize = 2 * PIECE + 1000;

/// The fate of a request.
#[derive(Clone, Copy)]
enum Act {
    /// It is carried out.
    Pass,
    /// It is refused with that status.
    Status(u16),
    /// It is refused so, and the session goes on.
    Active(u16),
    /// Its bytes are kept, up to that place, and the reply is lost.
    Lost(usize),
    /// A byte of it is another one.
    Corrupt,
    /// The reply to it is a page.
    Page,
    /// The reply to it is a resource without a field.
    Bare,
    /// The reply to it does not end.
    Stalled,
}

/// A server that makes one object.
#[derive(Default)]
struct Server {
    is_universal: bool,
    /// Whether its sessions are at another host.
    is_elsewhere: bool,
    object: Option<Bytes>,
    /// The content of the last request that has started a session.
    metadata: Bytes,
    /// The checksums in the last request with bytes.
    hash: String,
    persisted: Vec<u8>,
    acts: Vec<Act>,
    /// The requests, in short.
    requests: Vec<String>,
    /// Whether requests had a credential.
    credentials: Vec<bool>,
}

type Shared = Arc<Mutex<Server>>;

fn server(acts: &[Act]) -> (Shared, HttpRetryService<impl TransferService>) {
    let server = Arc::new(Mutex::new(Server { acts: acts.to_vec(), ..Server::default() }));
    let shared = Arc::clone(&server);
    (server, client_of(move |request| shared.lock().unwrap().reply(request)))
}

fn universal(acts: &[Act]) -> (Shared, HttpRetryService<impl TransferService>) {
    let (server, client) = server(acts);
    server.lock().unwrap().is_universal = true;
    (server, client)
}

fn sums(bytes: &[u8], checksums: Checksums) -> String {
    let mut hasher = Hasher::new(checksums);
    hasher.update(bytes);
    hasher.sums().header().unwrap()
}

fn header<'a>(request: &'a Request<Bytes>, name: &str) -> &'a str {
    request.headers().get(name).map_or("-", |value| value.to_str().unwrap())
}

impl Server {
    fn reply(&mut self, request: &Request<Bytes>) -> Result<Response<Content>, BoxError> {
        self.credentials.push(request.headers().contains_key(AUTHORIZATION));
        let act = if self.acts.is_empty() { Act::Pass } else { self.acts.remove(0) };
        let command = header(request, "x-goog-upload-command");
        let what = if self.is_universal { command } else { header(request, "content-range") };
        let what = match request.uri().query() {
            Some(query) if query.starts_with("uploadType=") => query.split('&').next().unwrap(),
            _ => what,
        };
        let offset = request.headers().get("x-goog-upload-offset");
        let offset = offset.map_or_else(String::new, |offset| format!(" {}", offset.to_str().unwrap()));
        self.requests.push(format!("{} {what}{offset}", request.method()));
        let response = |status: u16| Response::builder().status(status);
        let mut content = request.body().to_vec();
        match act {
            Act::Status(code) => return Ok(response(code).body(Content::whole("crc32c"))?),
            Act::Active(code) => {
                let response = response(code).header("x-goog-upload-status", "active");
                return Ok(response.body(Content::whole(""))?);
            }
            Act::Page => return Ok(response(200).body(Content::whole("<html>"))?),
            Act::Bare => return Ok(response(200).body(Content::whole("{}"))?),
            Act::Stalled => {
                let text = Bytes::from_static(b"{}");
                return Ok(response(200).body(Content::stalled(&text, [0, 1, 1]))?);
            }
            Act::Corrupt => *content.first_mut().unwrap() ^= 1,
            Act::Pass | Act::Lost(_) => {}
        }
        let reply = if self.is_universal {
            self.universal(command, request, &content)
        } else {
            self.storage(request, content)
        };
        if let Act::Lost(kept) = act {
            self.persisted.truncate(kept);
            return Err("the connection broke".into());
        }
        reply
    }

    /// The object, as its resource says it.
    fn made(&self) -> Result<Response<Content>, BoxError> {
        let object = self.object.as_ref().unwrap();
        let sums = sums(object, Checksums::CRC32C).replace("crc32c=", "");
        let resource = format!(r#"{{"size":"{}","crc32c":"{sums}"}}"#, object.len());
        Ok(Response::builder().header("x-goog-generation", 7).body(Content::whole(resource))?)
    }

    fn storage(&mut self, request: &Request<Bytes>, content: Vec<u8>) -> Result<Response<Content>, BoxError> {
        let response = |status: u16| Response::builder().status(status);
        match request.method().as_str() {
            "GET" if self.object.is_some() => return self.made(),
            "GET" => return Ok(response(404).body(Content::whole(""))?),
            "DELETE" => return Ok(response(499).body(Content::whole(""))?),
            "POST" if request.uri().query().unwrap().contains("uploadType=resumable") => {
                self.persisted.clear();
                self.metadata = content.into();
                let host = if self.is_elsewhere { "elsewhere" } else { "storage" };
                let session = format!("http://{host}.test/session");
                return Ok(response(200).header(LOCATION, session).body(Content::whole(""))?);
            }
            "POST" if self.object.is_some() => return Ok(response(412).body(Content::whole(""))?),
            "POST" => {
                // Of several parts the second one is the content: their heads are short, and so is what is behind the last one.
                let heads = content[..300].windows(4).enumerate().filter(|(_, end)| end == b"\r\n\r\n");
                let object = match *heads.map(|(place, _)| place + 4).collect::<Vec<_>>() {
                    [_, begin] => content[begin..].strip_suffix(b"--\r\n").map(|rest| {
                        let end = rest.len() - rest.iter().rev().position(|byte| *byte == b'\r').unwrap() - 1;
                        rest[..end].to_vec()
                    }),
                    _ => Some(content),
                };
                let object = object.unwrap();
                self.object = Some(object.into());
                return self.made();
            }
            _ => {}
        }
        let (range, total) = header(request, CONTENT_RANGE.as_str()).split_once('/').unwrap();
        if let Some((begin, _)) = range.strip_prefix("bytes ").unwrap().split_once('-') {
            let begin: usize = begin.parse().unwrap();
            assert!(begin <= self.persisted.len(), "bytes are missing before {begin}");
            self.persisted.truncate(begin);
            header(request, "x-goog-hash").clone_into(&mut self.hash);
            self.persisted.extend_from_slice(&content);
        }
        if total == self.persisted.len().to_string() {
            let wanted = header(request, "x-goog-hash");
            let checksums = Checksums { crc32c: wanted.contains("crc32c"), md5: wanted.contains("md5") };
            if wanted != "-" && wanted != sums(&self.persisted, checksums) {
                return Ok(response(400).body(Content::whole("the CRC32C differs"))?);
            }
            self.object = Some(self.persisted.clone().into());
            return self.made();
        }
        let response = response(308);
        let response = match self.persisted.len() {
            0 => response,
            length => response.header(RANGE, format!("bytes=0-{}", length - 1)),
        };
        Ok(response.body(Content::whole(""))?)
    }

    fn universal(
        &mut self,
        command: &str,
        request: &Request<Bytes>,
        content: &[u8],
    ) -> Result<Response<Content>, BoxError> {
        let response = Response::builder();
        if command == "start" {
            self.persisted.clear();
            let response = response.header("x-goog-upload-url", "http://storage.test/session");
            let response = response.header("x-goog-upload-control-url", "http://storage.test/control");
            let response = response.header("x-goog-upload-chunk-granularity", 1000);
            return Ok(response.header("x-goog-upload-status", "active").body(Content::whole(""))?);
        }
        if command == "cancel" {
            return Ok(response.header("x-goog-upload-status", "cancelled").body(Content::whole(""))?);
        }
        assert!(command != "query" || request.uri().path() == "/control");
        if command.starts_with("upload") {
            let offset: usize = header(request, "x-goog-upload-offset").parse().unwrap();
            assert_eq!(offset, self.persisted.len());
            self.persisted.extend_from_slice(content);
        }
        if command.ends_with("finalize") {
            self.object = Some(self.persisted.clone().into());
        }
        if self.object.is_some() {
            let mut made = self.made()?;
            made.headers_mut().insert("x-goog-upload-status", "final".parse()?);
            return Ok(made);
        }
        let response = response.header("x-goog-upload-size-received", self.persisted.len());
        Ok(response.header("x-goog-upload-status", "active").body(Content::whole(""))?)
    }
}

fn content() -> Bytes {
    static CONTENT: LazyLock<Bytes> =
        LazyLock::new(|| (0..SIZE).map(|place| u8::try_from(place % 251).unwrap()).collect());
    CONTENT.clone()
}

type Change = fn(Upload<'static>) -> Upload<'static>;

/// The content by each kind of source, and whether that can go back.
fn sources(folder: &Folder) -> [(UploadSource, bool); 4] {
    std::fs::write(folder.file("source"), content()).unwrap();
    [
        (content().into(), true),
        (UploadSource::file(folder.file("source")), true),
        (UploadSource::seekable(Cursor::new(content())), true),
        (UploadSource::reader(Cursor::new(content())), false),
    ]
}

fn to_object(source: impl Into<UploadSource>) -> Upload<'static> {
    Upload::to_object("http://storage.test", "b", "o", source)
}

fn by_universal(source: impl Into<UploadSource>) -> Upload<'static> {
    Upload::universal(Request::post("http://storage.test/upload/o").body(()).unwrap(), source)
}

fn requests(server: &Shared) -> Vec<String> {
    std::mem::take(&mut server.lock().unwrap().requests)
}

/// Whether the object was made, of the bytes that it should have.
fn is_made(server: &Shared) -> bool {
    let object = server.lock().unwrap().object.take();
    assert!(object.as_ref().is_none_or(|object| *object == content()), "the object has other bytes");
    object.is_some()
}

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

#[tokio::test(start_paused = true)]
async fn another_process_goes_on_with_the_session() {
    let folder = Folder::new();
    let state = folder.file("state");
    let acts = [Act::Pass, Act::Lost(PIECE), Act::Status(403)];
    for (source, _) in sources(&folder).into_iter().take(3) {
        let (server, client) = server(&acts);
        let upload = |source| to_object(source).single_request_below(0).state_file(&state);
        let error = upload(source).send(&client).await.unwrap_err();
        assert_eq!((error.status(), state.exists()), (Some(403), true));
        // A file was changed at a time that memory knows nothing of.
        let (source, _) = sources(&folder).into_iter().next().unwrap();
        upload(source).send(&client).await.unwrap();
        assert_eq!((is_made(&server), state.exists()), (true, false));
    }
    // Another object begins anew, and the same one goes on.
    let changes: [(Change, &str, bool); 9] = [
        (|upload| upload, "", true),
        (|upload| upload.header("authorization", "Bearer later"), "", true),
        (|upload| upload.content_type("image/jpeg"), "", false),
        (|upload| upload, r#""session":"http://elsewhere.test/session""#, false),
        (|upload| upload, r#""size":7"#, false),
        (|upload| upload, r#""hash":"crc32c=AAAAAA==""#, false),
        (|upload| upload, r#""modified":7"#, false),
        (|upload| upload, r#""origins":[]"#, false),
        (|upload| upload, r#""control":"http://elsewhere.test/session""#, false),
    ];
    for (change, edit, is_resumed) in changes {
        let (server, client) = server(&acts);
        let upload = || to_object(content()).single_request_below(0).state_file(&state);
        upload().send(&client).await.unwrap_err();
        let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&state).unwrap()).unwrap();
        if !edit.is_empty() {
            let edit: serde_json::Value = serde_json::from_str(&format!("{{{edit}}}")).unwrap();
            for (name, value) in edit.as_object().unwrap() {
                text[name] = value.clone();
            }
            std::fs::write(&state, text.to_string()).unwrap();
        }
        drop(requests(&server));
        let other = upload().query("a", "b").send(&client).await.unwrap_err();
        assert_eq!((other.kind(), requests(&server).len()), (TransferErrorKind::StateFile, 0));
        change(upload()).send(&client).await.unwrap();
        let first =
            if is_resumed { format!("PUT bytes */{SIZE}") } else { "POST uploadType=resumable".to_owned() };
        assert_eq!((&requests(&server)[0], is_made(&server)), (&first, true), "{edit}");
    }
    // A session of the universal protocol has two URIs, and its own granularity.
    let (two, client) = universal(&[Act::Pass, Act::Lost(PIECE), Act::Status(503)]);
    let upload = || by_universal(content()).chunk_size(PIECE as u64).state_file(&state);
    upload().send(&client).await.unwrap_err();
    drop(requests(&two));
    upload().send(&client).await.unwrap();
    let (query, rest) = ("POST query", ["POST upload 262000", "POST upload, finalize 524000"]);
    assert_eq!(requests(&two), [query, rest[0], rest[1]]);
    assert!(is_made(&two) && !state.exists());
    // A program that keeps the session itself.
    let (server, client) = server(&acts);
    let mut session = None;
    let upload = to_object(content()).single_request_below(0).on_session(|new| session = Some(new.clone()));
    let error = upload.send(&client).await.unwrap_err();
    assert_eq!(
        error.session().map(UploadSession::expose_uri),
        session.as_ref().map(UploadSession::expose_uri)
    );
    drop(requests(&server));
    let uploaded = Upload::resume(session.unwrap(), content()).send(&client).await.unwrap();
    assert_eq!((is_made(&server), uploaded.bytes(), uploaded.resumptions()), (true, SIZE as u64, 1));
    assert_eq!(uploaded.report().method(), "resume an upload");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_is_shorter_than_it_was_makes_no_object() {
    for source in [
        UploadSource::seekable(Cursor::new(content())).with_size(SIZE as u64 + 1),
        UploadSource::seekable(Cursor::new(content())).with_size(SIZE as u64 - 1),
        UploadSource::reader(Cursor::new(content())).with_size(SIZE as u64 + 1),
    ] {
        let (server, client) = server(&[]);
        let error = to_object(source).single_request_below(0).send(&client).await.unwrap_err();
        assert_eq!((error.kind(), is_made(&server)), (TransferErrorKind::SourceChanged, false));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_of_no_use_is_not_kept() {
    let folder = Folder::new();
    let state = folder.file("state");
    let storage = || to_object(content()).single_request_below(0).checksums(Checksums::NONE);
    let shorter = UploadSource::seekable(Cursor::new(content())).with_size(SIZE as u64 + 1);
    let last = |status| [Act::Pass, Act::Status(status)];
    for (upload, acts, is_kept, has_file) in [
        (storage(), &last(403)[..], true, true),
        (storage(), &last(400), false, false),
        (storage(), &last(412), false, false),
        (storage(), &last(499), false, false),
        (to_object(shorter).single_request_below(0), &[], true, false),
        (by_universal(content()), &last(400), false, false),
        (
            by_universal(content()),
            &[Act::Pass, Act::Active(400), Act::Active(400), Act::Active(400)],
            true,
            true,
        ),
    ] {
        let (server, client) = server(acts);
        server.lock().unwrap().is_universal = format!("{upload:?}").contains("/upload/o");
        let error = upload.state_file(&state).send(&client).await.unwrap_err();
        assert_eq!((error.session().is_some(), state.exists()), (is_kept, has_file), "{error:?}");
        drop(std::fs::remove_file(&state));
    }
    // By the session alone no other one can be started.
    let (_server, client) = server(&[Act::Status(404)]);
    let session = UploadSession::from_uri("http://storage.test/session").unwrap();
    let error = Upload::resume(session, content()).send(&client).await.unwrap_err();
    assert_eq!((error.status(), error.session().is_none()), (Some(404), true));
}

/// Also not with a program that goes on with what a server has named.
#[tokio::test(start_paused = true)]
async fn a_session_elsewhere_gets_no_credentials() {
    let (server, client) = server(&[Act::Pass, Act::Status(403)]);
    server.lock().unwrap().is_elsewhere = true;
    let upload = to_object(content()).single_request_below(0).header("authorization", "t");
    let error = upload.send(&client).await.unwrap_err();
    let session = error.session().unwrap().clone();
    Upload::resume(session, content()).header("authorization", "t").send(&client).await.unwrap();
    assert_eq!(server.lock().unwrap().credentials, [true, false, false, false]);
}

#[tokio::test(start_paused = true)]
async fn an_upload_has_settings_of_its_own() {
    let short = || CallOptions::new().timeout(Duration::from_secs(30));
    let upload = || to_object(content()).single_request_below(0).options(short());
    for (act, upload, is_sent_again) in [
        (Act::Status(503), upload(), true),
        (Act::Status(503), upload().options(short().no_retries()), false),
        // Unless said, nothing may come for longer than the whole upload may take.
        (Act::Stalled, upload().idle_timeout(Duration::from_secs(1)), true),
        (Act::Stalled, upload(), false),
    ] {
        let (server, client) = server(&[Act::Pass, act]);
        assert_eq!(upload.send(&client).await.is_ok(), is_sent_again);
        assert_eq!(is_made(&server), is_sent_again);
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_are_cancelled() {
    for (status, kind) in [(499, None), (204, Some(None)), (404, None), (410, None), (403, Some(Some(403)))] {
        let client = client_of(move |request| {
            assert_eq!(request.method(), "DELETE");
            Ok(Response::builder().status(status).body(Content::whole(""))?)
        });
        let session = UploadSession::from_uri("http://storage.test/session").unwrap();
        let result = session.cancel(&client).await;
        let expected = kind.and_then(|kind| kind);
        assert_eq!(result.err().and_then(|error| error.status()), expected, "{status}");
    }
    // The object is there already.
    let client = client_of(|_| Ok(Response::new(Content::whole("{}"))));
    let session = UploadSession::from_uri("http://storage.test/session").unwrap();
    let error = session.cancel(&client).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(200)));
    assert_eq!(error.report().unwrap().method(), "cancel an upload");
    let (server, client) = universal(&[]);
    UploadSession::universal_from_uri("http://storage.test/session").unwrap().cancel(&client).await.unwrap();
    assert_eq!(requests(&server), ["POST cancel"]);
}

/// The server need not keep what nobody goes on with.
#[tokio::test(start_paused = true)]
async fn an_upload_that_is_dropped_is_cancelled_unless_it_goes_on() {
    let folder = Folder::new();
    let session = UploadSession::from_uri("http://storage.test/session").unwrap();
    for keeps in ["nobody", "the program", "a file", "whoever began it"] {
        let (server, client) = server(&[]);
        let (reader, mut writer) = tokio::io::duplex(SIZE);
        tokio::io::AsyncWriteExt::write_all(&mut writer, &content()).await.unwrap();
        let source = UploadSource::reader(reader);
        let upload = match keeps {
            "the program" => to_object(source).on_session(|_| ()),
            "a file" => to_object(source).state_file(folder.file("state")),
            "whoever began it" => Upload::resume(session.clone(), source),
            _ => to_object(source),
        };
        let upload = upload.chunk_size(PIECE as u64).header("authorization", "t");
        let running = tokio::spawn(upload.send(&client));
        while requests(&server).iter().all(|request| !request.starts_with("PUT bytes 262144")) {
            tokio::task::yield_now().await;
        }
        running.abort();
        drop(running.await);
        assert_eq!(
            later(&server).await.iter().any(|request| request.starts_with("DELETE")),
            keeps == "nobody"
        );
        assert!(server.lock().unwrap().credentials.iter().all(|has| *has));
        drop(writer);
    }
    // An upload that has ended is not cancelled.
    let (server, client) = server(&[]);
    to_object(content()).single_request_below(0).send(&client).await.unwrap();
    assert_eq!(later(&server).await.len(), 2);
}

/// The requests, with those of tasks that nobody waits for.
async fn later(server: &Shared) -> Vec<String> {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    requests(server)
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
