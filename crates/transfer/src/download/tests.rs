//! Downloads from a server in memory, which breaks off, refuses and replaces its object.

use crate::checksum::{Checksums, Hasher};
use crate::download::file::PartialFile;
use crate::download::sink::hash_part;
use crate::tests::{Content, Folder, client_of};
use crate::{Download, TransferErrorKind, TransferProgress, TransferService};
use bytes::Bytes;
use gax_http::HttpRetryService;
use gax_retry::Code;
use http::header::{AUTHORIZATION, CONTENT_RANGE, ETAG, HOST, IF_RANGE, LOCATION, RANGE};
use http::{Request, Response, StatusCode};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;

const TEXT: &[u8] = b"0123456789";

/// The fate of a response.
#[derive(Clone)]
enum Act {
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
struct Server {
    content: Bytes,
    generation: i64,
    /// Whether a response with all of it says how long that is.
    has_length: bool,
    /// Whether responses name a version by `ETag`, and by generation.
    names: (bool, bool),
    /// Whether they name a checksum.
    has_checksum: bool,
    /// Another header of all responses.
    header: Option<(&'static str, &'static str)>,
    /// The fates of the responses to ranges that begin there, one after the other.
    acts: Vec<(usize, Act)>,
    /// The requests: the query, the range, and its version.
    requests: Vec<String>,
}

type Shared = Arc<Mutex<Server>>;

fn server(acts: impl Into<Vec<(usize, Act)>>) -> (Shared, HttpRetryService<impl TransferService>) {
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

fn sums(bytes: &[u8]) -> String {
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

fn content(bytes: &Bytes, act: Option<&Act>) -> Content {
    match act {
        Some(Act::Cut(length)) => Content::cut(bytes, *length),
        Some(Act::Stalled(ends)) => Content::stalled(bytes, *ends),
        Some(Act::Short(less)) => Content::whole(bytes.slice(..bytes.len() - less)),
        Some(Act::More) => Content::whole([bytes, &b"x"[..]].concat()),
        _ => Content::whole(bytes.clone()),
    }
}

fn download() -> Download<'static> {
    Download::of_object("http://storage.test", "b", "o")
}

fn requests(server: &Shared) -> Vec<String> {
    std::mem::take(&mut server.lock().unwrap().requests)
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_requested_of_the_same_version() {
    let acts = [(0, Act::Cut(4)), (4, Act::Status(503)), (4, Act::Cut(3))];
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
        let (server, client) = server(acts.clone());
        let mut seen = Vec::new();
        let download = download().checksums(checksums);
        let download = download.on_progress(|progress: &TransferProgress| {
            seen.push((progress.bytes(), progress.total(), progress.resumptions()));
        });
        let (bytes, downloaded) = download.to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, downloaded.bytes(), downloaded.resumptions()), (TEXT, 10, 3));
        assert_eq!((downloaded.generation(), downloaded.response().status()), (Some(1), StatusCode::OK));
        assert_eq!(downloaded.is_verified(), checksums != Checksums::NONE);
        assert_eq!(downloaded.crc32c().is_some(), checksums != Checksums::MD5 && downloaded.is_verified());
        assert_eq!(
            requests(&server),
            [
                "- -",
                "&generation=1 bytes=4- \"1\"",
                "&generation=1 bytes=4- \"1\"",
                "&generation=1 bytes=7- \"1\""
            ]
        );
        assert_eq!(downloaded.report().method(), "GET /storage/v1/b/b/o/o");
        drop(downloaded);
        assert_eq!(seen.last(), Some(&(10, Some(10), 3)), "{seen:?}");
        assert!(seen.contains(&(4, Some(10), 0)) && seen.contains(&(7, Some(10), 2)), "{seen:?}");
    }
    let (_, client) = server([(0, Act::Cut(4)), (4, Act::Lost)]);
    assert_eq!(download().to_bytes(&client).await.unwrap().1.resumptions(), 2);
    // A failure before the first byte leaves nothing to resume.
    let (server, client) = server([(0, Act::Status(503))]);
    let (_, downloaded) = download().to_bytes(&client).await.unwrap();
    assert_eq!((downloaded.resumptions(), requests(&server).len()), (0, 2));
    assert_eq!(downloaded.report().attempts()[0].code(), Code::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_anew_with_each_byte() {
    let (one, client) = server((0..9).map(|place| (place, Act::Cut(1))).collect::<Vec<_>>());
    let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
    assert_eq!((&*bytes, downloaded.resumptions(), requests(&one).len()), (TEXT, 9, 10));
    let (one, client) =
        server([(0, Act::Cut(4)), (4, Act::Cut(0)), (4, Act::Status(503)), (4, Act::Status(503))]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.bytes(), requests(&one).len()), (4, 3));
    let (one, client) = server([(0, Act::Lost), (0, Act::Lost), (0, Act::Lost)]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.kind(), requests(&one).len()), (TransferErrorKind::Connection, 3));
}

#[tokio::test(start_paused = true)]
async fn bytes_that_come_again_are_skipped_if_they_are_the_same() {
    for (act, wanted) in [(Act::All, TEXT), (Act::Earlier(3), TEXT)] {
        let (server, client) = server([(0, Act::Cut(4)), (4, act)]);
        let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, downloaded.is_verified(), requests(&server).len()), (wanted, true, 2));
    }
    // Fewer bytes than were announced are not the end.
    for (acts, resumptions) in
        [(vec![(0, Act::Short(3))], 1), (vec![(0, Act::Cut(4)), (4, Act::Short(2))], 2)]
    {
        let (server, client) = server(acts);
        server.lock().unwrap().has_length = false;
        server.lock().unwrap().header = Some(("x-goog-stored-content-length", "10"));
        let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, downloaded.is_verified(), downloaded.resumptions()), (TEXT, true, resumptions));
    }
    // A range may be the last one without saying so.
    let (endless, client) = server([(0, Act::Cut(4)), (4, Act::Endless)]);
    endless.lock().unwrap().has_length = false;
    let (bytes, _) = download().to_bytes(&client).await.unwrap();
    assert_eq!((&*bytes, requests(&endless).len()), (TEXT, 3));
    // Without a version all of it is requested again, and its begin is compared.
    for checksums in [Checksums::CRC32C, Checksums::NONE] {
        for (act, wanted) in
            [(Act::All, TEXT), (Act::Short(8), TEXT), (Act::Replaced(b"another one"), b"another one")]
        {
            let (server, client) = server([(0, Act::Cut(4)), (0, act)]);
            {
                let mut server = server.lock().unwrap();
                (server.names, server.has_length) = ((false, false), false);
            }
            let (bytes, downloaded) = download().checksums(checksums).to_bytes(&client).await.unwrap();
            assert_eq!((&*bytes, downloaded.generation()), (wanted, None), "{checksums:?}");
            assert!(requests(&server).iter().all(|request| request == "- -"));
        }
    }
    // A range of a version that was asked for may leave its name out if a checksum is compared in the end.
    for (checksums, expected) in [(Checksums::CRC32C, 2), (Checksums::NONE, 3)] {
        let (server, client) = server([(0, Act::Cut(4)), (4, Act::Nameless)]);
        let (bytes, _) = download().checksums(checksums).to_bytes(&client).await.unwrap();
        assert_eq!((&*bytes, requests(&server).len()), (TEXT, expected));
    }
    let (nameless, client) = server([(2, Act::Nameless), (5, Act::Nameless)]);
    let folder = Folder::new();
    download().parallel(3, 2).to_file(&client, folder.file("a")).await.unwrap();
    assert_eq!((&*read(&folder.file("a")), requests(&nameless).len()), (TEXT, 4));
    // Nothing is taken back from a writer, so that the begin has to be known.
    for (checksums, is_known) in [(Checksums::CRC32C, true), (Checksums::NONE, false)] {
        let (server, client) = server([(0, Act::Cut(4))]);
        server.lock().unwrap().names = (false, false);
        let mut written = Vec::new();
        let result = download().checksums(checksums).to_writer(&client, &mut written).await;
        assert_eq!((result.is_ok(), written == TEXT), (is_known, is_known));
    }
    for act in [Act::More, Act::Status(204), Act::Status(206)] {
        let (_server, client) = server([(0, act)]);
        let error = download().to_bytes(&client).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.report().unwrap().attempts().len()),
            (TransferErrorKind::Malformed, 1)
        );
        assert_eq!(error.report().unwrap().attempts()[0].code(), Code::Internal);
    }
}

#[tokio::test(start_paused = true)]
async fn responses_that_are_not_of_the_wanted_object() {
    let page = client_of(|_| Ok(Response::builder().header(ETAG, "\"1\"").body(Content::whole("Log in"))?));
    assert_eq!(download().to_bytes(&page).await.unwrap_err().kind(), TransferErrorKind::Malformed);
    let any = Download::new(Request::get("http://storage.test/o").body(()).unwrap());
    assert_eq!(&*any.to_bytes(&page).await.unwrap().0, b"Log in");
    let (one, client) = server([]);
    assert_eq!(download().generation(2).to_bytes(&client).await.unwrap_err().status(), Some(404));
    one.lock().unwrap().acts.push((0, Act::Cut(4)));
    download().generation(1).to_bytes(&client).await.unwrap();
    assert_eq!(requests(&one)[1..], ["&generation=1 - -", "&generation=1 bytes=4- \"1\""]);
    one.lock().unwrap().names = (false, false);
    assert_eq!(
        download().generation(1).to_bytes(&client).await.unwrap_err().kind(),
        TransferErrorKind::Malformed
    );
    // A checksum is that of the bytes as they are stored.
    for (header, is_stored, is_verified) in [
        (("x-goog-stored-content-encoding", "gzip"), false, Some(false)),
        (("x-goog-stored-content-encoding", "gzip"), true, None),
        (("x-goog-stored-content-encoding", "identity"), true, Some(true)),
        (("content-encoding", "gzip"), true, Some(true)),
        (("content-encoding", "gzip"), false, None),
    ] {
        let (server, client) = server([]);
        server.lock().unwrap().header = Some(header);
        let download = if is_stored { download().stored() } else { download() };
        let result = download.to_bytes(&client).await;
        assert_eq!(result.ok().map(|(_, downloaded)| downloaded.is_verified()), is_verified, "{header:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_replaced_is_received_anew_unless_its_bytes_are_written() {
    let acts = [(0, Act::Cut(4)), (4, Act::Replaced(b"another"))];
    let (one, client) = server(acts.clone());
    let (bytes, downloaded) = download().to_bytes(&client).await.unwrap();
    assert_eq!(
        (&*bytes, downloaded.generation(), downloaded.is_verified()),
        (&b"another"[..], Some(2), true)
    );
    assert_eq!(downloaded.response().headers()[ETAG], "\"2\"");
    assert_eq!(requests(&one), ["- -", "&generation=1 bytes=4- \"1\"", "- -"]);
    let folder = Folder::new();
    for parallel in [0, 2] {
        let (_server, client) = server(acts.clone());
        let download = download().parallel(parallel, 20);
        let downloaded = download.to_file(&client, folder.file("a")).await.unwrap();
        assert_eq!((&*read(&folder.file("a")), downloaded.bytes()), (&b"another"[..], 7));
    }
    assert_eq!(folder.names(), ["a"]);
    // Only of a generation that we asked for ourselves there may be another one.
    for (names, generation) in [((true, false), None), ((true, true), Some(1))] {
        let (gone, client) = server([(0, Act::Cut(4)), (4, Act::Status(404))]);
        gone.lock().unwrap().names = names;
        let download = generation.into_iter().fold(download(), Download::generation);
        let error = download.to_bytes(&client).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (TransferErrorKind::ObjectChanged, Some(404)));
    }
    let (_, client) = server([(0, Act::Cut(0)), (0, Act::Status(404))]);
    let error = download().to_bytes(&client).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (TransferErrorKind::Status, Some(404)));
    // Nothing is taken back from a writer, and ranges at once are of one object.
    let (_server, client) = server(acts.clone());
    let mut written = Vec::new();
    let error = download().to_writer(&client, &mut written).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.status(), &*written),
        (TransferErrorKind::ObjectChanged, Some(404), &b"0123"[..])
    );
    let (_server, client) = server([(6, Act::Replaced(b"another one"))]);
    let error = download().parallel(2, 2).to_file(&client, folder.file("b")).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ObjectChanged);
    // All of an object that may be another one: the range has no bytes to compare its begin with.
    let (renamed, client) = server([(5, Act::Renamed(b"abcdefghij"))]);
    {
        let mut server = renamed.lock().unwrap();
        (server.names, server.has_checksum) = ((true, false), false);
        server.header = Some(("x-goog-stored-content-length", "10"));
    }
    let error = download().parallel(3, 2).to_file(&client, folder.file("b")).await.unwrap_err();
    assert_eq!(error.kind(), TransferErrorKind::ObjectChanged);
    assert_eq!(folder.names(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn ranges_at_once_are_one_file() {
    let folder = Folder::new();
    let path = folder.file("a");
    for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
        let (server, client) = server([(5, Act::Cut(1)), (8, Act::All), (2, Act::Earlier(1))]);
        let known = Mutex::new((0, None));
        let download = download().checksums(checksums).parallel(3, 2).on_progress(|progress| {
            *known.lock().unwrap() = (progress.bytes(), progress.total());
        });
        let downloaded = download.to_file(&client, &path).await.unwrap();
        assert_eq!(read(&path), TEXT);
        assert_eq!((downloaded.bytes(), downloaded.resumptions()), (10, 1));
        assert_eq!((downloaded.range_reports().len(), downloaded.generation()), (3, Some(1)));
        assert_eq!(downloaded.is_verified(), checksums != Checksums::NONE);
        let mut whole = Hasher::new(checksums);
        whole.update(TEXT);
        assert_eq!((downloaded.crc32c(), downloaded.md5()), (whole.sums().crc32c, whole.sums().md5));
        drop(downloaded);
        assert_eq!(*known.lock().unwrap(), (10, Some(10)));
        let mut requests = requests(&server);
        requests.sort_unstable();
        let ranges = ["2-4", "5-7", "6-7", "8-9"].map(|range| format!("&generation=1 bytes={range} \"1\""));
        assert_eq!((&requests[..4], &*requests[4]), (&ranges[..], "bytes=0-1 -"));
    }
    // The first range has 256 KiB at most.
    let (long, client) = server([]);
    long.lock().unwrap().content = vec![7; 300_000].into();
    download().parallel(2, 280_000).to_file(&client, &path).await.unwrap();
    assert_eq!(requests(&long), ["bytes=0-262143 -", "&generation=1 bytes=262144-299999 \"1\""]);
    // Without ranges, and without more than the first, one request is enough.
    for (act, least) in [(Some(Act::All), 2), (Some(Act::All), 10), (None, 10), (None, 11)] {
        let (server, client) = server(act.map(|act| (0, act)).into_iter().collect::<Vec<_>>());
        let downloaded = download().parallel(3, least).to_file(&client, &path).await.unwrap();
        assert_eq!((downloaded.is_verified(), requests(&server).len()), (true, 1), "{least}");
        assert_eq!(read(&path), TEXT);
    }
    // A server that knows no ranges and names no lengths has sent all of it with its first response.
    let (one, client) = server([(0, Act::All)]);
    one.lock().unwrap().has_length = false;
    download().parallel(3, 2).to_file(&client, &path).await.unwrap();
    assert_eq!((&*read(&path), requests(&one).len()), (TEXT, 1));
    // A length that is not known is found at the end.
    let (endless, client) = server([(0, Act::Endless)]);
    let downloaded = download().parallel(3, 2).to_file(&client, &path).await.unwrap();
    assert_eq!((downloaded.bytes(), downloaded.is_verified(), requests(&endless).len()), (10, true, 2));
    assert_eq!((&*read(&path), downloaded.range_reports().len()), (TEXT, 1));
    // Nothing of an object that was replaced is said of the one that was received.
    let (_, client) = server([(0, Act::Endless), (2, Act::Replaced(b"another"))]);
    let downloaded = download().parallel(3, 2).to_file(&client, &path).await.unwrap();
    assert_eq!((&*read(&path), downloaded.bytes()), (&b"another"[..], 7));
    assert_eq!((downloaded.generation(), downloaded.is_verified()), (Some(2), true));
    assert_eq!(downloaded.response().headers()[ETAG], "\"2\"");
}

#[tokio::test(start_paused = true)]
async fn an_earlier_process_leaves_what_it_has_received() {
    let names = ["a.gax-part", "a.gax-state"];
    for (parallel, acts, resumed) in [
        (0, vec![(0, Act::Cut(4)), (4, Act::Status(403))], vec!["4-"]),
        // Ranges that were whole are not requested again.
        (3, vec![(5, Act::Cut(1)), (6, Act::Status(403))], vec!["6-7"]),
    ] {
        for is_changed in [false, true] {
            let folder = Folder::new();
            let path = folder.file("a");
            let (server, client) = server(acts.clone());
            let request = || download().resumable().parallel(parallel, 2);
            let error = request().to_file(&client, &path).await.unwrap_err();
            assert_eq!((error.status(), &*folder.names()), (Some(403), &names.map(String::from)[..]));
            let other = Download::of_object("http://storage.test", "b", "o2").resumable();
            let error = other.to_file(&client, &path).await.unwrap_err();
            assert_eq!(
                (error.kind(), &*folder.names()),
                (TransferErrorKind::StateFile, &names.map(String::from)[..])
            );
            drop(requests(&server));
            // The state has the checksum that the server named.
            server.lock().unwrap().has_checksum = is_changed;
            if is_changed {
                let mut bytes = read(&folder.file("a.gax-part"));
                bytes[0] ^= 1;
                std::fs::write(folder.file("a.gax-part"), bytes).unwrap();
            }
            let downloaded = request().to_file(&client, &path).await.unwrap();
            assert_eq!((&*read(&path), downloaded.bytes(), downloaded.is_verified()), (TEXT, 10, true));
            assert_eq!(folder.names(), ["a"]);
            let requests = requests(&server);
            if is_changed {
                assert!(requests[0] == "- -" || requests[0] == "bytes=0-1 -", "{requests:?}");
            } else {
                let ranges: Vec<_> =
                    resumed.iter().map(|range| format!("&generation=1 bytes={range} \"1\"")).collect();
                assert_eq!(requests, ranges);
            }
        }
    }
    // The rest of one range may be divided, and that of several received by one process after the other.
    for (before, later, ranges) in [(0, 2, vec!["4-6", "7-9"]), (3, 0, vec!["6-7"])] {
        let folder = Folder::new();
        let acts = [(0, Act::Cut(4)), (4, Act::Status(403)), (5, Act::Cut(1)), (6, Act::Status(403))];
        let (one, client) = server(acts);
        let request = |parallel| download().resumable().parallel(parallel, 2);
        request(before).to_file(&client, folder.file("a")).await.unwrap_err();
        drop(requests(&one));
        one.lock().unwrap().acts.clear();
        request(later).to_file(&client, folder.file("a")).await.unwrap();
        let expected: Vec<_> =
            ranges.iter().map(|range| format!("&generation=1 bytes={range} \"1\"")).collect();
        let mut requests = requests(&one);
        requests.sort_unstable();
        assert_eq!((&*read(&folder.file("a")), requests), (TEXT, expected));
    }
    // The rest is not divided if nobody knows how long the object is.
    let folder = Folder::new();
    let (unknown, client) = server([(0, Act::Cut(4)), (4, Act::Status(403))]);
    unknown.lock().unwrap().has_length = false;
    download().resumable().to_file(&client, folder.file("a")).await.unwrap_err();
    drop(requests(&unknown));
    download().resumable().parallel(3, 2).to_file(&client, folder.file("a")).await.unwrap();
    assert_eq!((&*read(&folder.file("a")), requests(&unknown).len()), (TEXT, 1));
}

#[tokio::test(start_paused = true)]
async fn a_state_has_the_version_and_what_is_whole() {
    // The version goes on as its server has named it.
    for (names, header, request) in [
        ((true, false), None, "bytes=4- \"1\""),
        ((false, true), None, "&generation=1 bytes=4- -"),
        ((true, true), Some(("content-encoding", "gzip")), "&generation=1 bytes=4- \"1\""),
    ] {
        let folder = Folder::new();
        let (one, client) = server([(0, Act::Cut(4)), (4, Act::Status(403))]);
        {
            let mut server = one.lock().unwrap();
            (server.names, server.header) = (names, header);
        }
        let download = || if header.is_some() { download().stored() } else { download() };
        download().resumable().to_file(&client, folder.file("a")).await.unwrap_err();
        drop(requests(&one));
        download().resumable().to_file(&client, folder.file("a")).await.unwrap();
        assert_eq!((&*read(&folder.file("a")), requests(&one)), (TEXT, vec![request.to_owned()]));
    }
    // All of it was there before the file got its name.
    for parallel in [0, 3] {
        let folder = Folder::new();
        let path = folder.file("a");
        let (whole, client) = server([]);
        let request = download().resumable().parallel(parallel, 2).on_progress(|progress| {
            if progress.bytes() == 10 {
                drop(std::fs::create_dir(&path));
            }
        });
        let error = request.to_file(&client, &path).await.unwrap_err();
        assert_eq!((error.kind(), error.bytes()), (TransferErrorKind::Sink, 10));
        std::fs::remove_dir(&path).unwrap();
        drop(requests(&whole));
        download().resumable().parallel(3, 2).to_file(&client, &path).await.unwrap();
        assert_eq!((&*read(&path), &*folder.names()), (TEXT, &["a".to_owned()][..]));
        assert_eq!(requests(&whole), ["&generation=1 bytes=10- \"1\""]);
    }
    // An object that was replaced meanwhile starts over.
    for has_checksum in [true, false] {
        let folder = Folder::new();
        let acts = [(0, Act::Cut(4)), (4, Act::Status(403)), (4, Act::Replaced(b"another"))];
        let (replaced, client) = server(acts);
        replaced.lock().unwrap().has_checksum = has_checksum;
        download().resumable().to_file(&client, folder.file("a")).await.unwrap_err();
        download().resumable().to_file(&client, folder.file("a")).await.unwrap();
        assert_eq!((&*read(&folder.file("a")), &*folder.names()), (&b"another"[..], &["a".to_owned()][..]));
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_left_has_the_wanted_checksums() {
    for (parallel, cut, ranges) in [(0, 0, vec!["4-"]), (3, 5, vec!["6-7"])] {
        for checksums in [Checksums::CRC32C, Checksums::MD5, Checksums::BOTH, Checksums::NONE] {
            let folder = Folder::new();
            let path = folder.file("a");
            let acts = [(0, Act::Cut(4)), (4, Act::Status(403)), (5, Act::Cut(1)), (6, Act::Status(403))];
            let (left, client) = server(acts.into_iter().filter(|(at, _)| *at >= cut).collect::<Vec<_>>());
            let request = || download().resumable().checksums(checksums).parallel(parallel, 2);
            request().to_file(&client, &path).await.unwrap_err();
            drop(requests(&left));
            let downloaded = request().to_file(&client, &path).await.unwrap();
            let ranges: Vec<_> =
                ranges.iter().map(|range| format!("&generation=1 bytes={range} \"1\"")).collect();
            assert_eq!((&*read(&path), requests(&left)), (TEXT, ranges));
            let mut whole = Hasher::new(Checksums { crc32c: true, ..checksums });
            whole.update(TEXT);
            assert_eq!((downloaded.crc32c(), downloaded.md5()), (whole.sums().crc32c, whole.sums().md5));
            assert!(downloaded.is_verified());
        }
    }
    // The server names an MD5 alone.
    for (parallel, cut) in [(0, 0), (3, 5)] {
        let folder = Folder::new();
        let (left, client) = server([(cut, Act::Cut(1)), (cut + 1, Act::Status(403))]);
        {
            let mut server = left.lock().unwrap();
            (server.has_checksum, server.header) =
                (false, Some(("x-goog-hash", "md5=eB5eJF1ptWaXm4bijSPyxw==")));
        }
        let request = || download().resumable().checksums(Checksums::MD5).parallel(parallel, 2);
        request().to_file(&client, folder.file("a")).await.unwrap_err();
        assert!(request().to_file(&client, folder.file("a")).await.unwrap().is_verified());
    }
}

/// A range is read in pieces, the last of which ends where the range does.
#[tokio::test]
async fn a_range_of_a_longer_file_is_hashed() {
    let folder = Folder::new();
    let file = PartialFile::open(&folder.file("a"), false).await.unwrap();
    let content: Vec<u8> = (0..200_000_u32).map(|at| at.to_le_bytes()[1]).collect();
    std::fs::write(folder.file("a.gax-part"), &content).unwrap();
    let hasher = hash_part(file.part(), 10, Checksums::CRC32C, 100_000).await.unwrap();
    let mut expected = Hasher::new(Checksums::CRC32C);
    expected.update(&content[10..100_010]);
    assert_eq!((hasher.bytes(), hasher.sums()), (100_000, expected.sums()));
}

/// Ranges that don't fit together are those of nobody: the download starts over.
#[tokio::test(start_paused = true)]
async fn a_state_whose_ranges_leave_a_gap() {
    let mut longer = Hasher::new(Checksums::CRC32C);
    longer.update(&TEXT[..4]);
    let longer = serde_json::json!({"begin": 0, "end": 2, "bytes": 4, "crc32c": longer.sums().crc32c});
    for (field, value) in [
        ("/total", 11.into()),
        ("/ranges/2/begin", 6.into()),
        ("/ranges/1/end", 4.into()),
        ("/ranges/0", longer),
    ] {
        let folder = Folder::new();
        let path = folder.file("a");
        let (left, client) = server([(5, Act::Cut(0)), (5, Act::Status(403))]);
        let request = || download().resumable().parallel(3, 2);
        request().to_file(&client, &path).await.unwrap_err();
        drop(requests(&left));
        let mut state: serde_json::Value =
            serde_json::from_slice(&read(&folder.file("a.gax-state"))).unwrap();
        *state.pointer_mut(field).unwrap() = value;
        std::fs::write(folder.file("a.gax-state"), state.to_string()).unwrap();
        request().to_file(&client, &path).await.unwrap();
        assert_eq!((&*read(&path), &*requests(&left)[0]), (TEXT, "bytes=0-1 -"), "{field}");
    }
}

/// Begins a download, which ends before it is over, as if its process were killed.
async fn kill(download: Download<'_>, client: &HttpRetryService<impl TransferService>, path: &Path) {
    tokio::select! {
        biased;
        ended = download.to_file(client, path) => panic!("{ended:?}"),
        // The clock stands still until all that came is written.
        () = tokio::time::sleep(std::time::Duration::from_millis(1)) => {}
    }
}

/// A process that is killed loses what came since.
#[tokio::test(start_paused = true)]
async fn the_state_is_written_every_16_mib() {
    const MIB_16: usize = 16 * 1024 * 1024;
    let (long, client) = server([(0, Act::Stalled([MIB_16 - 1, MIB_16, MIB_16 + 10]))]);
    let content = Bytes::from(vec![7; MIB_16 + 20]);
    {
        let mut server = long.lock().unwrap();
        (server.content, server.has_checksum) = (content.clone(), false);
    }
    let folder = Folder::new();
    let request = || download().resumable();
    kill(request(), &client, &folder.file("a")).await;
    assert_eq!(read(&folder.file("a.gax-part")).len(), MIB_16 + 10);
    drop(requests(&long));
    request().to_file(&client, folder.file("a")).await.unwrap();
    assert!(read(&folder.file("a")) == content);
    assert_eq!(requests(&long), [format!("&generation=1 bytes={MIB_16}- \"1\"")]);
}

/// A process that is killed before that has received nothing, of no version.
#[tokio::test(start_paused = true)]
async fn a_state_without_bytes_is_none() {
    let (one, client) = server([(0, Act::Stalled([1, 2, 4])), (0, Act::Replaced(b"another"))]);
    one.lock().unwrap().has_checksum = false;
    let folder = Folder::new();
    let request = || download().resumable();
    kill(request(), &client, &folder.file("a")).await;
    assert_eq!(folder.names(), ["a.gax-part", "a.gax-state"]);
    request().to_file(&client, folder.file("a")).await.unwrap();
    assert_eq!((&*read(&folder.file("a")), requests(&one).len()), (&b"another"[..], 2));
}

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
