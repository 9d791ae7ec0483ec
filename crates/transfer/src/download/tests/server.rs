//! A server in memory with one object.

use crate::checksum::{Checksums, Hasher};
use crate::tests::{Content, client_of};
use crate::{Download, TransferService};
use bytes::Bytes;
use gax_http::HttpRetryService;
use http::header::{CONTENT_RANGE, ETAG, IF_RANGE, LOCATION, RANGE};
use http::{Request, Response};
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(super) const TEXT: &[u8] = b"0123456789";

/// The fate of a response.
#[derive(Clone)]
pub(super) enum Act {
    /// It breaks off behind so many bytes.
    Cut(usize),
    /// There is none.
    Lost,
    /// Its bytes come in three pieces that end at these places, and then nothing.
    Stalled([usize; 3]),
    /// It has another status, and no object.
    Status(u16),
    /// It leads there.
    To(&'static str),
    /// It has all of the object, whatever range is wanted.
    All,
    /// The object is replaced before.
    Replaced(&'static [u8]),
    /// The object is replaced before, and from then on its version is named by generation alone.
    Renamed(&'static [u8]),
    /// It begins so many bytes before the range.
    Earlier(usize),
    /// It has so many bytes more than it announces.
    More,
    /// It has so many bytes less than it announces, and ends as if that were all.
    Short(usize),
    /// It doesn't say how long the object is.
    Endless,
    /// It names no version.
    Nameless,
}

/// A server with one object.
pub(super) struct Server {
    pub(super) content: Bytes,
    pub(super) generation: i64,
    /// Whether a response with all of it says how long that is.
    pub(super) has_length: bool,
    /// Whether responses name a version by `ETag`, and by generation.
    pub(super) names: (bool, bool),
    /// Whether they name a checksum.
    pub(super) has_checksum: bool,
    /// Another header of all responses.
    pub(super) header: Option<(&'static str, &'static str)>,
    /// The fates of the responses to ranges that begin there, one after the other.
    pub(super) acts: Vec<(usize, Act)>,
    /// The requests: the query, the range, and its version.
    pub(super) requests: Vec<String>,
}

pub(super) type Shared = Arc<Mutex<Server>>;

pub(super) fn server(acts: impl Into<Vec<(usize, Act)>>) -> (Shared, HttpRetryService<impl TransferService>) {
    let server = Server {
        content: TEXT.into(),
        generation: 1,
        has_length: true,
        names: (true, true),
        has_checksum: true,
        header: None,
        acts: acts.into(),
        requests: Vec::new(),
    };
    let server = Arc::new(Mutex::new(server));
    let shared = Arc::clone(&server);
    (
        server,
        client_of(move |request| {
            shared.lock().unwrap().reply(request).ok_or_else(|| "the connection broke".into())
        }),
    )
}

pub(super) fn sums(bytes: &[u8]) -> String {
    let mut hasher = Hasher::new(Checksums::BOTH);
    hasher.update(bytes);
    hasher.sums().header().unwrap()
}

impl Server {
    fn reply(&mut self, request: &Request<Bytes>) -> Option<Response<Content>> {
        let header = |name| request.headers().get(name).map_or("-", |value| value.to_str().unwrap());
        let (range, version) = (header(RANGE), header(IF_RANGE));
        let uri = request
            .uri()
            .path_and_query()
            .unwrap()
            .as_str()
            .trim_start_matches("/storage/v1/b/b/o/o?alt=media");
        self.requests.push(format!("{uri} {range} {version}").trim_start().to_owned());
        let borders = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
        let (begin, last) = borders.unwrap_or(("0", ""));
        let begin: usize = begin.parse().unwrap();
        let act = self.acts.iter().position(|(place, _)| *place == begin).map(|at| self.acts.remove(at).1);
        if let Some(Act::Replaced(content) | Act::Renamed(content)) = act {
            (self.content, self.generation) = (content.into(), self.generation + 1);
        }
        if let Some(Act::Renamed(_)) = act {
            self.names = (false, true);
        }
        let wanted = request.uri().query().and_then(|query| query.rsplit_once("generation="));
        let is_gone = wanted.is_some_and(|(_, wanted)| wanted != self.generation.to_string());
        let status = |status: u16| Response::builder().status(status);
        match act {
            Some(Act::Lost) => return None,
            Some(Act::Status(code)) => return Some(status(code).body(Content::whole("refused")).unwrap()),
            Some(Act::To(there)) => {
                return Some(status(307).header(LOCATION, there).body(Content::whole("")).unwrap());
            }
            _ if is_gone => return Some(status(404).body(Content::whole("gone")).unwrap()),
            _ => {}
        }
        let (etag, length) = (format!("\"{}\"", self.generation), self.content.len());
        let is_all = borders.is_none() || matches!(act, Some(Act::All)) || version != "-" && version != etag;
        let head = if is_all { status(200) } else { status(206) };
        let is_nameless = matches!(act, Some(Act::Nameless));
        let head = if self.names.0 && !is_nameless { head.header(ETAG, &etag) } else { head };
        let head = if self.names.1 && !is_nameless {
            head.header("x-goog-generation", self.generation)
        } else {
            head
        };
        let head = match self.header {
            Some((name, value)) => head.header(name, value),
            None => head,
        };
        let head = if self.has_checksum { head.header("x-goog-hash", sums(&self.content)) } else { head };
        if is_all {
            let head = if self.has_length { head.header("content-length", length) } else { head };
            return Some(head.body(content(&self.content, act.as_ref())).unwrap());
        }
        if begin >= length {
            let range = format!("bytes */{length}");
            return Some(head.status(416).header(CONTENT_RANGE, range).body(Content::whole("")).unwrap());
        }
        let begin = if let Some(Act::Earlier(bytes)) = act { begin - bytes } else { begin };
        let end = last.parse().map_or(length, |last: usize| (last + 1).min(length));
        let whole = if matches!(act, Some(Act::Endless)) { "*".to_owned() } else { length.to_string() };
        let range = format!("bytes {begin}-{}/{whole}", end - 1);
        Some(
            head.header(CONTENT_RANGE, range)
                .body(content(&self.content.slice(begin..end), act.as_ref()))
                .unwrap(),
        )
    }
}

pub(super) fn content(bytes: &Bytes, act: Option<&Act>) -> Content {
    match act {
        Some(Act::Cut(length)) => Content::cut(bytes, *length),
        Some(Act::Stalled(ends)) => Content::stalled(bytes, *ends),
        Some(Act::Short(less)) => Content::whole(bytes.slice(..bytes.len() - less)),
        Some(Act::More) => Content::whole([bytes, &b"x"[..]].concat()),
        _ => Content::whole(bytes.clone()),
    }
}

pub(super) fn download() -> Download<'static> {
    Download::of_object("http://storage.test", "b", "o")
}

pub(super) fn requests(server: &Shared) -> Vec<String> {
    std::mem::take(&mut server.lock().unwrap().requests)
}

pub(super) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}
