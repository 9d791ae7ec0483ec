//! The table: misbehaviours, and the result of each kind of transfer.
//!
//! The letters stand for the kinds in the order of [`Kind`](super::cell::Kind): uploads from memory, from a file, from a
//! stream in chunks, resumed, in one request; downloads to memory, to a file, to a writer, in parallel, resumed. `V` is done and verified, `U` done and
//! unverified; errors are `S` status, `C` connection, `T` time-out, `R` source, `K` checksum mismatch, `O` object changed, `M` malformed, `X`
//! cancelled. Behind a slash stand those over reqwest, where they differ. `-` does not apply, for the reason behind the letters.

use super::fault::{Fault, On};
use crate::http::transfers::setup::content;
use bytes::Bytes;
use gax_testing::Direction::{Request, Response};
use gax_testing::HttpChange::{Announce, Body, Cut, Lose, Remove, Set, Status, Twice};
use gax_testing::{HttpArrival, HttpReply, StorageCall, StorageFault, StorageObject};
use std::fmt::Display;
use std::io::Write as _;
use tonic_gax_tests::{ConnectionFault, When, ms};

/// A misbehaviour.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) uploads: Cells,
    pub(super) downloads: Cells,
}

pub(super) enum Cells {
    Play(Fault, &'static str),
    /// It does not apply, for that reason.
    No(&'static str),
}

fn row(name: &'static str, uploads: Cells, downloads: Cells) -> Row {
    Row { name, uploads, downloads }
}

fn upload(name: &'static str, fault: Fault, results: &'static str) -> Row {
    row(name, Cells::Play(fault, results), Cells::No("only servers of uploads do that"))
}

fn download(name: &'static str, fault: Fault, results: &'static str) -> Row {
    row(name, Cells::No("only servers of downloads do that"), Cells::Play(fault, results))
}

/// A row with one fault in both directions.
fn both(name: &'static str, fault: &Fault, uploads: &'static str, downloads: &'static str) -> Row {
    row(name, Cells::Play(fault.clone(), uploads), Cells::Play(fault.clone(), downloads))
}

fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    // Memory takes all bytes.
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default().into()
}

fn status(status: u16) -> HttpReply {
    HttpReply::status(status).with_body("")
}

fn page() -> HttpReply {
    status(200).with_header("content-type", "text/html").with_body("<html>Log in</html>")
}

/// The offset of the range that a request asks for.
fn offset(arrival: &HttpArrival) -> usize {
    let range = arrival.header("range").and_then(|range| range.strip_prefix("bytes=")?.split('-').next());
    range.and_then(|offset| offset.parse().ok()).unwrap_or(0)
}

/// The reply to the first range behind a cut, by that range's offset and the length of the whole.
fn ranged(change: fn(usize, usize) -> Vec<gax_testing::HttpChange>) -> Fault {
    let fault = Fault::once(On::Range, move |arrival, world| {
        HttpReply::Forward(change(offset(arrival), world.content.len()))
    });
    fault.after_a_cut()
}

fn range(from: usize, to: usize, total: impl Display) -> gax_testing::HttpChange {
    Set("content-range", format!("bytes {from}-{}/{total}", to - 1))
}

/// Drops what proves that a reply is the server's.
fn without_proof() -> Vec<gax_testing::HttpChange> {
    ["x-goog-hash", "x-goog-generation", "x-goog-stored-content-length", "etag"].map(Remove).into()
}

fn moved(status: u16, on: On) -> Fault {
    Fault::once(on, move |arrival, world| {
        self::status(status).with_header("location", &format!("{}{}", world.other, arrival.target))
    })
}

/// The rows, by the headings of the guide's page.
pub(super) fn groups() -> [(&'static str, Vec<Row>); 3] {
    [("Proxies on the way", proxies()), ("Upload servers", uploads()), ("Download servers", downloads())]
}

pub(super) fn rows() -> Vec<Row> {
    groups().into_iter().flat_map(|(_, rows)| rows).collect()
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn proxies() -> Vec<Row> {
    let of = |on: On, reply: &HttpReply| Fault::fixed(on, reply.clone());
    // In place of the last reply of an upload, or of the first one of a download.
    let ends = |name, reply: &HttpReply, uploads, downloads| {
        row(name, Cells::Play(of(On::Last, reply), uploads), Cells::Play(of(On::First, reply), downloads))
    };
    // In the middle: in place of the reply to a query, or to a range.
    let middle = |name, reply: &HttpReply, uploads, downloads| {
        let uploads = Cells::Play(of(On::Query, reply).after_a_cut(), uploads);
        row(name, uploads, Cells::Play(of(On::Range, reply).after_a_cut(), downloads))
    };
    let empty = |code| status(code);
    let after = |value| Fault::fixed(On::Any, status(503).with_header("retry-after", value));
    let many = |value| Fault::fixed(On::Any, status(429).with_header("retry-after", value));
    let drip = |direction| ConnectionFault::Drip { direction, bytes: 50_000, every: ms(20) };
    let stall = |direction, bytes| ConnectionFault::Stall {
        direction,
        when: When::Bytes(direction, bytes),
        time: None,
    };
    let copy = Fault::once(On::Last, |_, world| {
        status(200).with_header("location", &format!("{}/upload/storage/v1/b/b/o?upload_id=x", world.other))
    });
    let cached = Fault::once(On::Range, |_, world| {
        let head = status(200).with_header("x-goog-generation", &world.generation.to_string());
        let head = head.with_header("x-goog-hash", &format!("crc32c={}", world.crc32c()));
        head.with_body(world.content.to_vec())
    });
    let connect = |name, reply: HttpReply| {
        let fault = Fault { is_tunnelled: true, ..Fault::fixed(On::Any, reply).always() };
        let [uploads, downloads] = [
            "CCC-C/----- what is resumed had a tunnel, and over reqwest plain http has none",
            "CCCC-/----- what is resumed had a tunnel, and over reqwest plain http has none",
        ];
        both(name, &fault, uploads, downloads)
    };
    let coded = |body: &[u8]| vec![Body(gzip(body)), Set("content-encoding", "gzip".to_owned())];
    let gzipped = Fault::once(On::First, move |_, world| HttpReply::Forward(coded(&world.content)));
    vec![
        ends("login page with 200", &page(), "VVVVV", "MMMMV"),
        middle("login page with 200 in the middle", &page(), "VVVV- one request asks no question", "VVVVV"),
        both("login page with 200 for ever", &Fault::fixed(On::Any, page()).always(), "MMMMM", "MMMMM"),
        ends("200, empty", &empty(200), "VVVVV", "MMMMV"),
        middle("200, empty, in the middle", &empty(200), "VVVV- one request asks no question", "VVVVV"),
        ends("202", &empty(202), "VVVVV", "MMMMV"),
        middle("202 in the middle", &empty(202), "VVVV- one request asks no question", "MMMMM"),
        ends("204", &empty(204), "VVVVV", "MMMMV"),
        middle("204 in the middle", &empty(204), "VVVV- one request asks no question", "MMMMM"),
        row(
            "a cached copy of an earlier response",
            Cells::Play(copy, "VVVVV"),
            Cells::Play(cached.after_a_cut(), "VVVVV"),
        ),
        row(
            "302 to another origin",
            Cells::Play(
                moved(302, On::Start),
                "SSS-- a resumed one is started, and one request starts nothing",
            ),
            Cells::Play(
                moved(302, On::First),
                "VVVVV/----- the other origin is a name that only the pipes know",
            ),
        ),
        row(
            "308 with Location",
            Cells::Play(moved(308, On::Send), "SSSSS"),
            Cells::Play(
                moved(308, On::First),
                "VVVVV/----- the other origin is a name that only the pipes know",
            ),
        ),
        row(
            "gzip added unasked",
            Cells::Play(Fault::changed(On::Last, coded(b"{}")), "VVVVV"),
            Cells::Play(gzipped, "MMMMV"),
        ),
        row(
            "gzip decoded by the client",
            Cells::No("an upload's replies are small and none is an object"),
            Cells::No("clients for transfers decode nothing; tests/http/reqwest.rs has those that do"),
        ),
        row(
            "a header dropped: Range",
            Cells::No("uploads ask for no range"),
            Cells::Play(Fault::of_storage(StorageFault::ignored_range()).after_a_cut(), "VVVVV"),
        ),
        upload(
            "a header dropped: X-HTTP-Status-Code-Override",
            Fault::changed(On::Any, vec![Remove("x-http-status-code-override")]).always(),
            "VVVVV",
        ),
        both(
            "a header dropped: x-goog-*",
            &Fault::changed(On::Any, without_proof()).always(),
            "VVVVV",
            "MMMMV",
        ),
        connect("407 to CONNECT", status(407)),
        connect("403 to CONNECT", status(403)),
        connect("a huge head to CONNECT", status(200).with_header("x-long", &"a".repeat(100_000))),
        row(
            "a few bytes at a time",
            Cells::Play(Fault::of_connections(1, drip(Request)), "VVVVV"),
            Cells::Play(Fault::of_connections(1, drip(Response)), "VVVVV"),
        ),
        both("cut after 1 B of each request, thrice", &Fault::cut(Request, 1, 3), "VVVVV", "VVVVV"),
        both("cut after 1 B of each response, thrice", &Fault::cut(Response, 1, 3), "VVVVV", "VVVVV"),
        row(
            "cut after 300 kB, thrice",
            Cells::Play(Fault::cut(Request, 300_000, 3), "VVVVV"),
            Cells::Play(Fault::cut(Response, 300_000, 3), "VVVVV"),
        ),
        row(
            "cut after 5 MiB",
            Cells::Play(Fault { is_large: true, ..Fault::cut(Request, 5 << 20, 1) }, "VVVVV"),
            Cells::Play(Fault { is_large: true, ..Fault::cut(Response, 5 << 20, 1) }, "VVVVV"),
        ),
        row(
            "stalled requests",
            Cells::Play(Fault::of_connections(1, stall(Request, 10_000)), "VVVVV"),
            Cells::Play(Fault::of_connections(1, stall(Request, 10)), "VVVVV"),
        ),
        both("stalled responses", &Fault::of_connections(1, stall(Response, 10)), "VVVVV", "VVVVV"),
        both("a duplicate response", &Fault::changed(On::Any, vec![Twice]), "VVVVV", "VVVVV"),
        both(
            "408 on an idle connection",
            &Fault { is_idle: true, ..Fault::default() },
            "VVVV-/----- over sockets its moment is a race, and one request leaves no connection idle",
            "VVVVV/----- over sockets its moment is a race",
        ),
        both("421", &Fault::fixed(On::Any, status(421)), "SSSSS", "SSSSS"),
        both("429 with Retry-After of seconds", &many("1"), "VVVVV", "VVVVV"),
        both("503 with Retry-After of seconds", &after("1"), "VVVVV", "VVVVV"),
        both("503 with Retry-After of a date", &after("Wed, 21 Oct 2015 07:28:00 GMT"), "VVVVV", "VVVVV"),
        both("503 with Retry-After of garbage", &after("soon"), "VVVVV", "VVVVV"),
        both("503 with Retry-After of 3,600", &after("3600"), "SSSSS", "SSSSS"),
    ]
}

fn uploads() -> Vec<Row> {
    let sent = |code, range: Option<&str>| {
        let reply = status(code);
        Fault::fixed(
            On::Send,
            range.into_iter().fold(reply, |reply, range| reply.with_header("range", range)),
        )
    };
    let gone = |on, code| Fault::fixed(on, status(code));
    let late = |name, code| {
        let fault = Fault { is_large: true, is_chunked: true, ..gone(On::Late, code) };
        upload(name, fault, "VVRV- one request has no session")
    };
    let resource = |json: &str| vec![Body(Bytes::from(json.to_owned())), Remove("x-goog-hash")];
    vec![
        upload(
            "start lost",
            Fault::changed(On::Start, vec![Lose]),
            "VVV-- a resumed one is started, and one request starts nothing",
        ),
        upload(
            "start without Location",
            Fault::changed(On::Start, vec![Remove("location")]),
            "MMM-- a resumed one is started, and one request starts nothing",
        ),
        upload(
            "308 with less",
            Fault::of_storage(StorageFault::persisted(100)),
            "VVVV- one request has no session",
        ),
        upload("308 without Range", sent(308, None), "VVVVS"),
        upload("308 with more", sent(308, Some("bytes=0-9999999")), "MMMMS"),
        upload("308 with a garbage Range", sent(308, Some("bytes=5-x")), "MMMMS"),
        upload(
            "finished too early",
            Fault::fixed(On::Send, status(200).with_body(r#"{"kind":"storage#object","size":"1000"}"#)),
            "VVVVV",
        ),
        upload("finished that isn't", Fault::fixed(On::Last, status(200).with_body("{}")), "VVVVV"),
        upload("final reply lost", Fault::changed(On::Last, vec![Lose]), "VVVVV"),
        upload("session 404 in the first request", gone(On::Send, 404), "VVVV- one request has no session"),
        upload("session 404 in the last request", gone(On::Last, 404), "VVRV- one request has no session"),
        upload("session 410 in the first request", gone(On::Send, 410), "VVVV- one request has no session"),
        upload("session 410 in the last request", gone(On::Last, 410), "VVRV- one request has no session"),
        late("session 404 after 20 chunks", 404),
        late("session 410 after 20 chunks", 410),
        upload("session 499", gone(On::Send, 499), "XXXX- one request has no session"),
        upload("409", gone(On::Last, 409), "SSSSS"),
        upload("412", gone(On::Last, 412), "SSSSS"),
        upload(
            "wrong checksum in the reply",
            Fault::changed(On::End, resource(r#"{"generation":"7","crc32c":"AAAAAA==","size":"525288"}"#))
                .always(),
            "KKKKV",
        ),
        upload(
            "wrong size in the reply",
            Fault::changed(On::End, resource(r#"{"generation":"7","size":"7"}"#)).always(),
            "KKKKV",
        ),
        upload(
            "no checksum in the reply",
            Fault::changed(On::End, [without_proof(), resource("{}")].concat()).always(),
            "UUUUV",
        ),
        upload(
            "a query whose reply says finished",
            Fault::fixed(On::Query, status(200)).after_a_cut(),
            "VVVV- one request asks no question",
        ),
        upload(
            "claims more than it was sent",
            Fault::fixed(On::Query, status(308).with_header("range", "bytes=0-525200")).after_a_cut(),
            "VMMV- one request asks no question",
        ),
    ]
}

fn downloads() -> Vec<Row> {
    let overwrite = StorageFault::overwrite(StorageObject::new(vec![7; super::cell::SIZE]));
    let later = |fault: StorageFault| Fault::of_storage(fault.on(StorageCall::Download)).after_a_cut();
    let outside = |total: fn(usize) -> Option<String>| {
        let fault = Fault::once(On::Range, move |arrival, _| {
            let reply = status(416);
            total(offset(arrival))
                .into_iter()
                .fold(reply, |reply, range| reply.with_header("content-range", &range))
        });
        fault.after_a_cut()
    };
    // A body of unknown length has come, and its end has not.
    let at_end = |changes: Vec<gax_testing::HttpChange>| {
        let fault = Fault::once(On::Download, move |arrival, world| match offset(arrival) {
            _ if arrival.header("range").is_none() => HttpReply::Raw(world.endless()),
            offset if offset == world.content.len() => HttpReply::Forward(changes.clone()),
            _ => HttpReply::Forward(Vec::new()),
        });
        Fault { is_silent: true, ..fault.times(2) }
    };
    vec![
        download("range ignored", Fault::of_storage(StorageFault::ignored_range()).after_a_cut(), "VVVVV"),
        download(
            "206 that begins earlier",
            Fault::of_storage(StorageFault::earlier_range(1000)).after_a_cut(),
            "VVVVV",
        ),
        download("206 shifted", ranged(|from, total| vec![range(from + 10, total, total)]), "MMMMM"),
        download(
            "206 shorter",
            ranged(|from, total| {
                vec![range(from, from + 100, total), Body(content(total).slice(from..from + 100))]
            }),
            "VVVVV",
        ),
        download("206 longer", ranged(|from, total| vec![Body(content(total + 50).slice(from..))]), "MMMMM"),
        download(
            "206 without version",
            ranged(|_, _| vec![Remove("x-goog-generation"), Remove("etag")]),
            "VVVVV",
        ),
        download(
            "206 of another version",
            ranged(|_, _| vec![Set("x-goog-generation", "7".to_owned()), Remove("etag")]),
            "VVOVV",
        ),
        download(
            "206 with another total",
            ranged(|from, total| vec![range(from, total, total + 1)]),
            "VVOVV",
        ),
        download("200 with Content-Range", ranged(|_, _| vec![Status(200)]), "VVVVV"),
        download("416 in the middle", outside(|offset| Some(format!("bytes */{offset}"))), "VVOVV"),
        download("416 in the middle, without total", outside(|_| None), "VVOVV"),
        download("416 at the end", at_end(vec![]), "VVVVV"),
        download("416 at the end, without total", at_end(vec![Remove("content-range")]), "VVOVV"),
        download("object replaced midway", later(overwrite), "VVOVV"),
        download("object deleted midway", later(StorageFault::status(404).times(9)), "SSOSS"),
        download(
            "object transcoded midway",
            ranged(|_, total| {
                vec![Status(200), Set("content-encoding", "gzip".to_owned()), Body(gzip(&content(total)))]
            }),
            "MMMMM",
        ),
        download(
            "wrong checksum",
            Fault::changed(On::Any, vec![Set("x-goog-hash", "crc32c=AAAAAA==".to_owned())]).always(),
            "KKKKV",
        ),
        download("no checksum", Fault::changed(On::Any, vec![Remove("x-goog-hash")]).always(), "UUUUV"),
        download("body shorter than announced", Fault::changed(On::First, vec![Cut(1000)]), "VVVVV"),
        download("body longer than announced", Fault::changed(On::First, vec![Announce(1000)]), "MMMVV"),
    ]
}
