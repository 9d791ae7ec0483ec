//! Replies to an upload.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::canned::{Canned, Pieces, timed};
use super::downloads::client;
use super::script::Line;
use bytes::Bytes;
use gax_transfer::Upload;
use http::request::Parts;
use http::{Request, Response};
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex};

/// The least that a chunk of Cloud Storage's protocol has.
const CHUNK: u64 = 256 * 1024;
const SESSION: &str = "http://storage.test/session";

/// Two chunks.
static SOURCE: LazyLock<Bytes> =
    LazyLock::new(|| (0..CHUNK + 5000).map(|place| u8::try_from(place % 251).unwrap()).collect());

/// A server that keeps what it gets.
#[derive(Debug, Default)]
pub(super) struct Server {
    pub(super) received: Vec<u8>,
    lines: VecDeque<Line>,
}

impl Server {
    /// Keeps the content of a request, if it begins where the server is; returns how long the whole is, as far as it is known.
    fn receive(&mut self, request: &Parts, body: &[u8], is_kept: bool) -> Option<usize> {
        let range = request.headers.get("content-range")?.to_str().ok()?.strip_prefix("bytes ")?;
        let (range, total) = range.split_once('/')?;
        let begin = range.split_once('-').map_or(Ok(self.received.len()), |(first, _)| first.parse()).ok()?;
        if is_kept
            && let Some(new) = self.received.len().checked_sub(begin).and_then(|known| body.get(known..))
        {
            self.received.extend_from_slice(new);
        }
        total.parse().ok()
    }

    /// The reply of the script, or an honest one.
    pub(super) fn reply(&mut self, request: &Parts, body: &[u8]) -> Response<Pieces> {
        // A secret goes nowhere but where the program sends it.
        let is_own = request.uri.host().is_some_and(|host| host.eq_ignore_ascii_case("storage.test"))
            && [None, Some(80)].contains(&request.uri.port_u16());
        assert!(is_own || !request.headers.contains_key("authorization"), "{}", request.uri);
        let line = self.lines.pop_front();
        let total = self.receive(request, body, line.as_ref().is_none_or(|line| line.mark != Some('^')));
        let mut reply = Response::builder();
        if let Some(line) = line {
            reply = reply.status(line.status);
            if line.mark == Some('~') {
                reply = reply.header("x-http-status-code-override", 308);
            }
            if let Some(value) = line.header() {
                reply = match value.as_bytes().strip_prefix(b"@") {
                    Some(location) => reply.header("location", location),
                    None => reply.header("range", value),
                };
            }
        } else if request.method == "POST" {
            reply = reply.header("location", SESSION);
        } else if total != Some(self.received.len()) {
            reply = reply.status(308);
            if let Some(last) = self.received.len().checked_sub(1) {
                reply = reply.header("range", format!("bytes=0-{last}"));
            }
        }
        let object = format!(r#"{{"bucket":"b","name":"o","size":"{}"}}"#, self.received.len());
        reply.body(Pieces::new(object)).unwrap()
    }
}

/// The replies of a script, and then those of an honest server. `^` drops what the request has, `~` is a 308 by another status, `@` is a
/// `Location`. The server says in the end how much it has: an upload that succeeds is there, whole.
pub(super) fn replies(data: &[u8]) {
    let server = Arc::new(Mutex::new(Server { lines: Line::all(data).into(), ..Server::default() }));
    let result = upload(&server, |upload| upload.single_request_below(0).chunk_size(CHUNK), &SOURCE);
    if result {
        assert!(
            server.lock().unwrap().received == *SOURCE,
            "{} bytes",
            server.lock().unwrap().received.len()
        );
    }
}

/// Uploads the content to the server; returns whether it succeeded.
pub(super) fn upload(
    server: &Arc<Mutex<Server>>,
    change: impl FnOnce(Upload<'static>) -> Upload<'static>,
    content: &Bytes,
) -> bool {
    let shared = Arc::clone(server);
    let service = Canned::new(move |request, body| shared.lock().unwrap().reply(request, body));
    let request = Request::post("http://storage.test/upload/storage/v1/b/b/o?name=o");
    let request = request.header("authorization", "Bearer s3cret").body(()).unwrap();
    let upload = change(Upload::new(request, content.clone()));
    match timed(upload.send(&client(service))).0 {
        Ok(uploaded) => assert_eq!(uploaded.bytes(), content.len() as u64),
        Err(error) => {
            let text = format!("{error} {error:?}");
            assert!(!text.contains("s3cret"), "{text}");
            return false;
        }
    }
    true
}
