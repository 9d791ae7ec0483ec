//! A server in memory that makes one object.

use crate::checksum::{Checksums, Hasher};
use crate::tests::{Content, Folder, client_of};
use crate::{TransferService, Upload, UploadSource};
use bytes::Bytes;
use gax_http::HttpRetryService;
use gax_wire::__private::BoxError;
use http::header::{AUTHORIZATION, CONTENT_RANGE, LOCATION, RANGE};
use http::{Request, Response};
use std::io::Cursor;
use std::sync::{Arc, LazyLock, Mutex};

pub(super) const PIECE: usize = 256 * 1024;
pub(super) const SIZE: usize = 2 * PIECE + 1000;

/// The fate of a request.
#[derive(Clone, Copy)]
pub(super) enum Act {
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
    /// It is carried out, and the end of the reply does not come.
    Endless,
}

/// A server that makes one object.
#[derive(Default)]
pub(super) struct Server {
    pub(super) is_universal: bool,
    /// Whether its sessions are at another host.
    pub(super) is_elsewhere: bool,
    pub(super) object: Option<Bytes>,
    /// The content of the last request that has started a session.
    pub(super) metadata: Bytes,
    /// The checksums in the last request with bytes.
    pub(super) hash: String,
    pub(super) persisted: Vec<u8>,
    pub(super) acts: Vec<Act>,
    /// The requests, in short.
    pub(super) requests: Vec<String>,
    /// Whether requests had a credential.
    pub(super) credentials: Vec<bool>,
}

pub(super) type Shared = Arc<Mutex<Server>>;

pub(super) fn server(acts: &[Act]) -> (Shared, HttpRetryService<impl TransferService>) {
    let server = Arc::new(Mutex::new(Server { acts: acts.to_vec(), ..Server::default() }));
    let shared = Arc::clone(&server);
    (server, client_of(move |request| shared.lock().unwrap().reply(request)))
}

pub(super) fn universal(acts: &[Act]) -> (Shared, HttpRetryService<impl TransferService>) {
    let (server, client) = server(acts);
    server.lock().unwrap().is_universal = true;
    (server, client)
}

pub(super) fn sums(bytes: &[u8], checksums: Checksums) -> String {
    let mut hasher = Hasher::new(checksums);
    hasher.update(bytes);
    hasher.sums().header().unwrap()
}

pub(super) fn header<'a>(request: &'a Request<Bytes>, name: &str) -> &'a str {
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
            Act::Pass | Act::Lost(_) | Act::Endless => {}
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
        if let Act::Endless = act { reply.map(|reply| reply.map(Content::endless)) } else { reply }
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

pub(super) fn content() -> Bytes {
    static CONTENT: LazyLock<Bytes> =
        LazyLock::new(|| (0..SIZE).map(|place| u8::try_from(place % 251).unwrap()).collect());
    CONTENT.clone()
}

/// The content by each kind of source, and whether that can go back.
pub(super) fn sources(folder: &Folder) -> [(UploadSource, bool); 4] {
    std::fs::write(folder.file("source"), content()).unwrap();
    [
        (content().into(), true),
        (UploadSource::file(folder.file("source")), true),
        (UploadSource::seekable(Cursor::new(content())), true),
        (UploadSource::reader(Cursor::new(content())), false),
    ]
}

pub(super) fn to_object(source: impl Into<UploadSource>) -> Upload<'static> {
    Upload::to_object("http://storage.test", "b", "o", source)
}

pub(super) fn by_universal(source: impl Into<UploadSource>) -> Upload<'static> {
    Upload::universal(Request::post("http://storage.test/upload/o").body(()).unwrap(), source)
}

pub(super) fn requests(server: &Shared) -> Vec<String> {
    std::mem::take(&mut server.lock().unwrap().requests)
}

/// Returns whether the object was made, of the bytes that it should have.
pub(super) fn is_made(server: &Shared) -> bool {
    let object = server.lock().unwrap().object.take();
    assert!(object.as_ref().is_none_or(|object| *object == content()), "the object has other bytes");
    object.is_some()
}
