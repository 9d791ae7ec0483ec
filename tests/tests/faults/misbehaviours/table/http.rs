//! The rows of HTTP: what proxies reply, uploads and downloads.

use crate::faults::misbehaviours::row::{Row, Section, row};
use crate::faults::misbehaviours::stage::Step::Next;
use crate::faults::misbehaviours::stage::Trouble;
use gax_testing::Direction;
use tonic_gax_tests::{ConnectionFault as Fault, When, ms};

pub(super) const UPLOADS: &str =
    "http::transfers::trials::matrix::play::uploads_meet_every_misbehaviour_over_hyper";
const DOWNLOADS: &str = "http::transfers::trials::matrix::play::downloads_meet_every_misbehaviour_over_hyper";
/// Like these two, but over reqwest.
const OVER_REQWEST: [&str; 2] = [
    "http::transfers::trials::matrix::play::uploads_meet_every_misbehaviour_over_reqwest",
    "http::transfers::trials::matrix::play::downloads_meet_every_misbehaviour_over_reqwest",
];

/// A row of the matrix of transfers.
fn both(behaviour: &'static str, second: &'static str) -> Row {
    let row = row(behaviour, second, "").test("T", UPLOADS).test("T", DOWNLOADS);
    OVER_REQWEST.into_iter().fold(row, |row, name| row.test("T", name))
}

pub(super) fn proxies() -> Section {
    const RETRIES: &str = "faults::misbehaviours::proxies::replies_to_http_requests";
    const CALLS: &str = "faults::misbehaviours::proxies::replies_to_rest_calls";
    const MIDDLE: &str = "its requests have no middle: each has one reply";
    const STORAGE: &str = "transfers alone read or send that header";
    const FIRST: &str = "any first reply";
    const LAST: &str = "the last reply to an upload, the first one to a download";
    const RANGE: &str = "the reply to a status query, or to a range";
    let reply = |behaviour, second| both(behaviour, second).test("H", RETRIES).test("R", CALLS);
    let middle = |behaviour, second| both(behaviour, second).no("HR", MIDDLE);
    let storage = |behaviour, second| both(behaviour, second).no("HR", STORAGE);
    let connection = |behaviour, second, fault| {
        both(behaviour, second).plays("HR", Trouble::new(vec![Next(vec![fault]); 3]))
    };
    let tunnel = |behaviour| {
        both(behaviour, "a tunnel")
            .of("HTRK")
            .test("K", "sockets::connections::proxies::a_proxy_that_refuses_says_why")
            .test("H", "faults::misbehaviours::proxies::tunnels_that_are_refused")
            .test("R", "faults::misbehaviours::proxies::tunnels_that_are_refused")
    };
    let cut = |direction, bytes| Fault::Close(When::Bytes(direction, bytes));
    let stall = |direction| Fault::Stall { direction, when: When::Bytes(direction, 10), time: None };
    let [seconds, date, garbage, long] = [
        "503 with Retry-After of seconds",
        "503 with Retry-After of a date",
        "503 with Retry-After of garbage",
        "503 with Retry-After of 3,600",
    ];
    Section {
        heading: "Proxies on the way",
        about: "`http/transfers/trials/matrix` plays each row to uploads (from memory, a file and a stream, resumed, and in one request) and downloads (to \
                memory, a file and a writer, in parallel, and resumed), over hyper and reqwest. A client without retries takes each reply with a status of \
                200 for that of the server, and fails with any other and with a connection that breaks.",
        second: "in place of",
        clients: "HTR",
        rows: vec![
            reply("login page with 200", LAST),
            middle("login page with 200 in the middle", RANGE),
            reply("login page with 200 for ever", "every reply"),
            reply("200, empty", LAST),
            middle("200, empty, in the middle", RANGE),
            reply("202", LAST),
            middle("202 in the middle", RANGE),
            reply("204", LAST),
            middle("204 in the middle", RANGE),
            both("a cached copy of an earlier response", "the last reply to an upload, the reply to a range")
                .no("HR", "nothing in a reply says whose it is"),
            reply(
                "302 to another origin",
                "the reply to the start of an upload, the first one to a download",
            ),
            reply("308 with Location", "the reply to bytes of an upload, the first one to a download"),
            reply("gzip added unasked", "a body as it was"),
            both("gzip decoded by the client", "a body as it was")
                .test("H", "http::unreadable::what_does_not_unpack")
                .test("R", "calls::rest::responses::compressed_responses_are_unpacked"),
            storage("a header dropped: Range", "a request for a range"),
            storage("a header dropped: X-HTTP-Status-Code-Override", "a 308 that was asked to come as 200"),
            storage("a header dropped: x-goog-*", "what names a version and checksums"),
            tunnel("407 to CONNECT"),
            tunnel("403 to CONNECT"),
            tunnel("a huge head to CONNECT"),
            connection(
                "a few bytes at a time",
                "a fast connection",
                Fault::Drip { direction: Direction::Response, bytes: 20, every: ms(1) },
            ),
            connection("cut after 1 B of each request, thrice", "requests", cut(Direction::Request, 1)),
            connection("cut after 1 B of each response, thrice", "responses", cut(Direction::Response, 1)),
            both("cut after 300 kB, thrice", "transfers")
                .test("H", "http::bodies::a_success_is_as_long_as_it_was_announced_to_be")
                .test("R", "calls::rest::failures::a_response_that_is_cut_counts_as_a_broken_connection"),
            both("cut after 5 MiB", "transfers")
                .test("H", "http::bodies::a_transfer_that_was_handed_on_may_outlast_every_timeout")
                .test("R", "calls::rest::failures::a_response_that_is_too_long_is_final"),
            connection("stalled requests", "a connection that moves", stall(Direction::Request)),
            connection("stalled responses", "a connection that moves", stall(Direction::Response)),
            reply("a duplicate response", "one response"),
            both("408 on an idle connection", "silence").test(
                "HR",
                "http::retries::resend::a_408_on_a_connection_that_was_used_before_is_a_closed_connection",
            ),
            reply("421", FIRST),
            reply("429 with Retry-After of seconds", FIRST),
            reply(seconds, FIRST),
            reply(date, FIRST),
            reply(garbage, FIRST),
            reply(long, FIRST),
        ],
    }
}

/// A row that only servers of uploads, or of downloads, have.
fn transfer(test: &'static str, over_reqwest: &'static str) -> impl Fn(&'static str, &'static str) -> Row {
    move |behaviour, second| row(behaviour, second, "").test("T", test).test("T", over_reqwest)
}

pub(super) fn uploads() -> Section {
    let row = transfer(UPLOADS, OVER_REQWEST[0]);
    Section {
        heading: "Upload servers",
        about: "A client without checks takes any 200 for the end of its upload, and starts over after anything else.",
        second: "what really happened",
        clients: "T",
        rows: vec![
            row("start lost", "the session exists"),
            row("start without Location", "the session exists"),
            row("308 with less", "the server kept a part of what it was sent"),
            row("308 without Range", "the server kept nothing"),
            row("308 with more", "it says that it has what it was never sent"),
            row("308 with a garbage Range", "unknown"),
            row("finished too early", "the object has a part of the bytes, or does not exist"),
            row("finished that isn't", "the object does not exist"),
            row("final reply lost", "the object exists"),
            row("session 404 in the first request", "the session is gone"),
            row("session 404 in the last request", "the session is gone, and what it had"),
            row("session 410 in the first request", "the session is gone"),
            row("session 410 in the last request", "the session is gone, and what it had"),
            row("session 404 after 20 chunks", "the session is gone, and what it had"),
            row("session 410 after 20 chunks", "the session is gone, and what it had"),
            row("session 499", "the session was cancelled"),
            row("409", "another request is in the way"),
            row("412", "a precondition does not hold"),
            row("wrong checksum in the reply", "the object has other bytes"),
            row("wrong size in the reply", "the object has other bytes"),
            row("no checksum in the reply", "the object exists"),
            row("a query whose reply says finished", "the object does not exist"),
            row("claims more than it was sent", "the server kept a part of what it was sent"),
        ],
    }
}

pub(super) fn downloads() -> Section {
    let row = transfer(DOWNLOADS, OVER_REQWEST[1]);
    Section {
        heading: "Download servers",
        about: "A client without checks takes whatever arrives for the object, and starts over after a connection that breaks.",
        second: "what came",
        clients: "T",
        rows: vec![
            row("range ignored", "all of it"),
            row("206 that begins earlier", "a range that begins 1,000 bytes early, and says so"),
            row("206 shifted", "a range that says that it begins later"),
            row("206 shorter", "the first bytes of the range"),
            row("206 longer", "more bytes than the object has"),
            row("206 without version", "bytes of some version"),
            row("206 of another version", "bytes of another version"),
            row("206 with another total", "bytes of an object of another length"),
            row("200 with Content-Range", "the range, with the status of the whole"),
            row("416 in the middle", "\"that is all\", when it isn't"),
            row("416 in the middle, without total", "a refusal"),
            row("416 at the end", "a refusal, behind all bytes of a body of unknown length"),
            row("416 at the end, without total", "the same, without knowing that it is the end"),
            row("object replaced midway", "another version"),
            row("object deleted midway", "404"),
            row("object transcoded midway", "the object compressed"),
            row("wrong checksum", "the object, with the checksum of another one"),
            row("no checksum", "the object, and nothing to compare it with"),
            row("body shorter than announced", "the first bytes of the object"),
            row("body longer than announced", "a length that is too short"),
        ],
    }
}
