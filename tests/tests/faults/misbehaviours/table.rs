//! The table: each misbehaviour, and which test plays it to each client that it concerns.

use super::row::{ALL, Row, Section, row};
use super::stage::Step::{Always, LeadsNowhere, Next, Now, Wait};
use super::stage::Trouble;
use bytes::Bytes;
use tonic_gax::testing::Direction;
use tonic_gax_tests::{ConnectionFault as Fault, When, ms};

pub(super) fn sections() -> Vec<Section> {
    vec![
        orderly(),
        disorderly(),
        limits(),
        resolvers(),
        proxies(),
        uploads(),
        downloads(),
        streams(),
        tokens(),
        replies(),
        machine(),
    ]
}

const NO_ERROR: u32 = 0;
const ENHANCE_YOUR_CALM: u32 = 11;

fn goaway(when: When, reason: u32, data: &'static str) -> Fault {
    Fault::GoAway { when, reason, data: Bytes::from_static(data.as_bytes()) }
}

/// Connections have that fault from the start and for two seconds.
fn for_a_while(fault: Fault) -> Trouble {
    Trouble::new([Always(vec![fault]), Wait(ms(2000)), Always(Vec::new())])
}

/// After half a second connections end so, and those that follow have that fault for so many milliseconds.
fn outage(end: Fault, fault: Fault, time: u64) -> Trouble {
    Trouble::new([Wait(ms(500)), Always(vec![fault]), Now(end), Wait(ms(time)), Always(Vec::new())])
}

/// Nobody listens for a while.
fn restart(behaviour: &'static str, time: u64) -> Row {
    row(behaviour, "`ConnectionFault::Refuse`", "loses calls")
        .of(ALL)
        .plays(ALL, outage(Fault::Close(When::Start), Fault::Refuse, time))
        .test("K", "sockets::connections::acceptance::restarts")
        .test("LG", "sockets::servers::ten_thousand_operations_ride_out_an_outage_of_two_seconds")
}

fn orderly() -> Section {
    let ended = |behaviour, reset| {
        let fault = Fault::EndStreams { after: ms(150), reset };
        row(behaviour, "Envoy (`max_stream_duration`), sidecars", "loses no single call, but each stream")
            .of("SKO")
            .plays("SO", Trouble::new([Always(vec![fault]), Wait(ms(2000)), Always(Vec::new())]))
            .test("K", "sockets::connections::acceptance::health_checks_that_a_proxy_ends")
            .test("K", "sockets::connections::ordinary_days::a_health_check_that_a_proxy_ends_costs_no_call")
    };
    let http1 = |behaviour, who, trouble| {
        row(behaviour, who, "loses no call where each has a connection").of("HTR").plays("HTR", trouble)
    };
    Section {
        heading: "Orderly endings",
        about: "These are the most common endings.",
        second: "who does it",
        clients: "LGKS",
        rows: vec![
            row(
                "`GOAWAY` with `NO_ERROR` after n requests",
                "Envoy (`max_requests_per_connection`), nginx (`keepalive_requests`)",
                "loses no call",
            )
            .plays("LGKS", for_a_while(goaway(When::Requests(5), NO_ERROR, "")))
            .test("K", "sockets::connections::acceptance::goodbyes_in_good_order"),
            row("`GOAWAY` with `NO_ERROR` after a time", "grpc-go (`MaxConnectionAge`)", "loses calls")
                .plays("LGKS", for_a_while(goaway(When::Time(ms(300)), NO_ERROR, "")))
                .test("K", "sockets::connections::acceptance::goodbyes_in_good_order")
                .test("LG", "sockets::servers::a_goaway_never_reaches_the_caller"),
            http1("`Connection: close` on every response", "load balancers", Trouble::http1(true, None)),
            http1(
                "an idle connection closed as a request is sent",
                "load balancers",
                Trouble::http1(false, Some(ms(99))),
            )
            .test("HR", "http::retries::resend::a_stale_connection_of_hyper_utils_client_costs_no_attempt"),
            ended("a stream ended by a proxy's limit, with status OK", None),
            ended("a stream ended by a proxy's limit, with a reset", Some(8)),
            row(
                "an endpoint drained: its health check fails, then `GOAWAY`, then it is gone",
                "every roll-out",
                "loses calls",
            )
            .of("KS")
            .test("K", "sockets::connections::acceptance::one_of_two_endpoints")
            .test("S", "faults::misbehaviours::endpoints::streams_over_one_endpoint_of_two"),
            restart("a restart within 100 ms", 100),
            restart("a restart within 300 ms", 300),
            restart("a restart within 2 s", 2000),
            restart("a restart within 30 s", 30_000),
        ],
    }
}

fn disorderly() -> Section {
    const BELOW: &str = "the handshake is that of the client below, as for H and G";
    let text = |text: &'static str| Fault::Reply(Bytes::from_static(text.as_bytes()));
    let (closed, silent) = (Fault::Close(When::Start), Fault::HalfOpen(When::Start));
    let broken = |behaviour, kit, fault| {
        row(behaviour, kit, "loses calls")
            .plays("LGKHTRS", outage(closed.clone(), fault, 2000))
            .test("K", "sockets::connections::acceptance::disorderly_endings")
    };
    let tls = |behaviour| {
        row(behaviour, "`TlsServer` of the tests", "loses calls")
            .test("LG", "sockets::tls::grpc_ends_where_no_other_attempt_can_do_better")
            .test("K", "sockets::tls::connections_of_our_own_end_there_too")
            .test("H", "sockets::tls::http_ends_where_no_other_attempt_can_do_better")
            .no("TRS", BELOW)
    };
    let calm = |behaviour, data| {
        row(behaviour, "`ConnectionFault::GoAway { .. }`", "loses calls")
            .plays("LGKHTRS", for_a_while(goaway(When::Requests(5), ENHANCE_YOUR_CALM, data)))
            .test("K", "sockets::connections::acceptance::disorderly_endings")
    };
    let http1 = text("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    let gone = [Wait(ms(500)), LeadsNowhere(true), Now(closed.clone()), Wait(ms(3000)), LeadsNowhere(false)];
    Section {
        heading: "Disorderly endings",
        about: "",
        second: "the kit's name",
        clients: "LGKHTRS",
        rows: vec![
            row("a reset after half a second, six times in a row", "`ConnectionFault::Reset(When::Time(..))`", "loses calls")
                .plays("LGKHTRS", Trouble::new(vec![Next(vec![Fault::Reset(When::Time(ms(505)))]); 6]))
                .test("K", "sockets::connections::acceptance::disorderly_endings")
                .test("LG", "sockets::servers::a_call_survives_a_server_that_is_killed_in_the_middle_of_it"),
            broken(
                "the server killed in the middle of a message",
                "`ConnectionFault::Reset(When::Bytes(..))`",
                Fault::Reset(When::Bytes(Direction::Response, 203)),
            ),
            broken("accepted and closed at once", "`ConnectionFault::Close(When::Start)`", closed.clone())
                .test("LG", "sockets::servers::a_listener_that_only_closes_costs_four_connections_an_attempt"),
            broken("`SETTINGS`, then closed", "`ConnectionFault::Close(When::Time(..))`", Fault::Close(When::Time(ms(1)))),
            broken(
                "closed before any response",
                "`ConnectionFault::Close(When::Bytes(..))`",
                Fault::Close(When::Bytes(Direction::Request, 100)),
            ),
            row("half-open: the peer vanished", "`ConnectionFault::HalfOpen(..)`", "loses calls")
                .plays("LGKHTRS", Trouble::new([Wait(ms(505)), Now(silent.clone())]))
                .test("K", "sockets::connections::silent::a_half_open_connection_costs_an_operation_two_attempts_and_later_ones_none"),
            row("a proxy acknowledges and forwards nothing", "`ConnectionFault::HalfOpen(..)`", "loses calls")
                .plays("LGKHTRS", outage(silent.clone(), silent.clone(), 3000))
                .test("K", "sockets::connections::acceptance::silence"),
            row("one of two addresses does any of that", "two proxies", "loses calls")
                .test("K", "sockets::connections::acceptance::one_of_two_endpoints")
                .test("S", "faults::misbehaviours::endpoints::streams_over_one_endpoint_of_two")
                .test("H", "sockets::connections::http::a_retry_avoids_the_endpoint_that_failed")
                .test("T", "sockets::connections::http::transfers_notice_a_silent_connection_too")
                .no("LG", "a `Channel` knows one address, or balances them itself")
                .no("R", "it stands on the client of H"),
            row("a connect that is never accepted", "a connector that never returns", "loses calls")
                .plays("LGKHTRS", Trouble::new(gone))
                .test("LG", "sockets::connecting::a_generated_client_gives_up_a_connection_that_stalls"),
            broken("a TLS alert", "`ConnectionFault::Reply(..)`", text("\x15\x03\x01\x00\x02\x02\x50")).and_final(),
            tls("a certificate for another name"),
            tls("plain text at a TLS port"),
            row("TLS at a port for plain text", "a connector without TLS", "loses calls")
                .test("LG", "sockets::tls::a_channel_without_tls_takes_no_https")
                .test("K", "sockets::connections::faults::a_server_of_another_protocol_fails_calls_with_a_reason")
                .test("HR", "sockets::tls::a_scheme_that_the_client_does_not_speak_is_final")
                .test("R", "calls::rest::over_sockets::a_scheme_that_the_client_does_not_speak_is_final")
                .no("TS", BELOW),
            broken("an HTTP/1.1 response to HTTP/2", "`ConnectionFault::Reply(..)`, `HttpPeer`", http1).and_final().over_http2(),
            row("`SETTINGS` that never come", "`ConnectionFault::HalfOpen(When::Start)`", "loses calls")
                .plays("LGKHTRS", Trouble::new([Always(vec![silent]), Wait(ms(3000)), Always(Vec::new())])),
            broken("a first byte after the connect timeout", "`ConnectionFault::Delay(..)`", Fault::Delay(Direction::Response, ms(25_000))),
            calm("`GOAWAY` with `ENHANCE_YOUR_CALM` and `too_many_pings`", "too_many_pings")
                .test("K", "sockets::connections::keep_alive::a_client_that_pings_too_often_learns_to_ping_less"),
            calm("`GOAWAY` with `ENHANCE_YOUR_CALM` and other data", "slow down"),
        ],
    }
}

fn limits() -> Section {
    let many = |behaviour, fault| {
        row(behaviour, "`ConnectionFault::StreamLimit(..)`", "loses no call, which waits without end")
            .plays("LGKS", Trouble::new([Always(vec![fault])]).at_once(20))
            .test("K", "sockets::connections::acceptance::limits")
            .test("S", "sockets::connections::streams::streams_that_last_all_begin")
    };
    let limit = |streams| Fault::StreamLimit(When::Start, streams);
    let raised = [
        Always(vec![limit(0)]),
        Wait(ms(3000)),
        Always(Vec::new()),
        Now(Fault::StreamLimit(When::Requests(0), 9)),
    ];
    let slow = |behaviour, direction| {
        let fault = Fault::Stall { direction, when: When::Time(ms(1000)), time: Some(ms(20_000)) };
        row(behaviour, "`ConnectionFault::Stall { .. }`", "loses no call, which waits for it")
            .plays("LGKS", Trouble::new([Always(vec![fault]), Wait(ms(1500)), Always(Vec::new())]))
            .test("K", "sockets::connections::acceptance::silence")
    };
    let small = |behaviour, kit, fault| {
        row(behaviour, kit, "loses no call")
            .plays("LGKS", Trouble::new([Always(vec![fault])]))
            .test("K", "sockets::connections::acceptance::limits")
    };
    let raw =
        |behaviour, plain, name| row(behaviour, "`RawServer`, `VirtualServer`", plain).test("LGKS", name);
    Section {
        heading: "Limits",
        about: "",
        second: "the kit's name",
        clients: "LGKS",
        rows: vec![
            row(
                "`MAX_CONCURRENT_STREAMS` of 0",
                "`ConnectionFault::StreamLimit(..)`",
                "loses no call, which waits without end",
            )
            .plays("LGKS", Trouble::new(raised).at_once(20))
            .test("K", "sockets::connections::streams::a_server_that_allows_no_stream_gets_none"),
            many("`MAX_CONCURRENT_STREAMS` of 1", limit(1)),
            many("`MAX_CONCURRENT_STREAMS` of 10", limit(10)),
            many("`MAX_CONCURRENT_STREAMS` lowered later", Fault::StreamLimit(When::Requests(5), 1)),
            small("a window of 1 byte", "`ConnectionFault::Window(1)`", Fault::Window(1)),
            slow("a server that reads nothing for 20 s", Direction::Request),
            slow("a server that sends nothing for 20 s", Direction::Response),
            small("responses in frames of 1 byte", "`ConnectionFault::TinyFrames(1)`", Fault::TinyFrames(1)),
            raw(
                "a message length that claims 256 MiB or 4 GiB",
                "fails",
                "faults::misbehaviours::replies::lengths_that_claim_more_than_anybody_reads",
            ),
            raw("headers of 64 KiB", "fails", "faults::misbehaviours::replies::headers_that_are_too_long"),
            raw("trailers only", "fails", "faults::misbehaviours::replies::trailers_alone"),
            raw(
                "compressed where nothing was before",
                "fails",
                "faults::misbehaviours::replies::a_message_that_is_compressed_unasked",
            ),
        ],
    }
}

fn resolvers() -> Section {
    const RESULTS: &str = "sockets::connections::acceptance::resolvers";
    let played = |behaviour, plain, name| row(behaviour, "`ScriptedResolver`", plain).test("K", name);
    let result = |behaviour| played(behaviour, "knows the first result alone", RESULTS);
    Section {
        heading: "Resolvers and addresses",
        about: "",
        second: "the kit's name",
        clients: "K",
        rows: vec![
            result("a new set").test("K", "sockets::connections::ordinary_days::an_address_that_is_gone_drains_once_there_is_another"),
            result("the same set"),
            result("the set reversed").test("K", "sockets::connections::ordinary_days::an_address_that_was_given_up_stays_behind_the_others"),
            result("the set doubled"),
            result("an empty set"),
            result("an error").test("K", "sockets::connections::faults::a_resolver_that_fails_or_panics_is_asked_again"),
            result("no result"),
            result("1,000 addresses of which 2 work"),
            result("another subset each time")
                .test("K", "sockets::connections::ordinary_days::a_resolver_that_gives_another_subset_each_time_costs_no_call_and_few_connections"),
            played("`changed` ready at once, for ever", "has no such notice", "sockets::connections::ordinary_days::a_resolver_is_asked_ten_times_a_second_at_most"),
            played("`0.0.0.0` and `[::]`", "connects to itself", "faults::misbehaviours::endpoints::an_address_of_nobody_is_that_of_this_machine"),
            played("two addresses of which the first is dead", "waits for the first", "sockets::connections::faults::of_several_addresses_one_that_stalls_costs_a_moment")
                .test("K", "sockets::connections::endpoints::of_three_endpoints_the_dead_one_costs_no_call"),
            played("IPv6 that leads nowhere", "waits for the first", "faults::misbehaviours::endpoints::an_address_of_ipv6_that_leads_nowhere_costs_a_moment"),
            played("a name with a port, a scheme or user info", "takes user info for a part of the name", "sockets::connections::plaintext::port_443_without_a_scheme_wants_one")
                .test("K", "sockets::connections::plaintext::user_and_password_of_a_target_are_printed_nowhere"),
        ],
    }
}

const UPLOADS: &str = "http::transfers::trials::matrix::play::uploads_meet_every_misbehaviour_over_hyper";
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

fn proxies() -> Section {
    const RETRIES: &str = "faults::misbehaviours::proxies::replies_to_http_requests";
    const CALLS: &str = "faults::misbehaviours::proxies::replies_to_rest_calls";
    const MIDDLE: &str = "its requests have no middle: each is answered by one reply";
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

fn uploads() -> Section {
    let row = transfer(UPLOADS, OVER_REQWEST[0]);
    Section {
        heading: "Upload servers",
        about: "A client without checks takes any 200 for the end of its upload, and begins anew after anything else.",
        second: "what really happened",
        clients: "T",
        rows: vec![
            row("start lost", "the session exists"),
            row("start without Location", "the session exists"),
            row("308 with less", "the server kept a part of what it was sent"),
            row("308 without Range", "the server kept nothing"),
            row("308 with more", "it says that it has what it was never sent"),
            row("308 with a garbage Range", "nobody knows"),
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
            row("query answered finished", "the object does not exist"),
            row("claims more than it was sent", "the server kept a part of what it was sent"),
        ],
    }
}

fn downloads() -> Section {
    let row = transfer(DOWNLOADS, OVER_REQWEST[1]);
    Section {
        heading: "Download servers",
        about: "A client without checks takes whatever comes for the object, and begins anew after a connection that breaks.",
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
            row("416 at the end, without total", "the same, of which nobody knows that it is the end"),
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

fn streams() -> Section {
    const RESUMED: &str = "a client that begins anew reads messages twice";
    let played =
        |behaviour, plain, name| row(behaviour, "`VirtualServer`, `RawServer`", plain).test("S", name);
    Section {
        heading: "Streams and messages",
        about: "",
        second: "the kit's name",
        clients: "S",
        rows: vec![
            played(
                "an error right behind 1, 2 or 10 messages in a frame",
                "reads all of them",
                "calls::streams::messages::every_message_before_an_error_is_read_whatever_comes_right_behind",
            )
            .test("S", "chaos::messages::nothing_that_a_plain_client_reads_is_lost"),
            played(
                "a break after each message",
                RESUMED,
                "calls::streams::resuming::a_stream_goes_on_behind_its_last_message",
            )
            .test("S", "chaos::streams::streams_of_the_generated_client"),
            played(
                "a break with nothing new, n times",
                RESUMED,
                "calls::streams::resuming::without_a_total_timeout_attempts_count_that_deliver_nothing",
            ),
            played(
                "a resume point that is gone",
                "misses messages",
                "calls::streams::resuming::the_caller_sees_that_a_stream_began_anew",
            )
            .test("S", "sockets::watch::each_revision_comes_once_or_the_watch_says_that_it_began_anew"),
            played(
                "the response of one attempt compressed, that of the next one not",
                "reads both",
                "faults::misbehaviours::replies::a_stream_that_goes_on_uncompressed",
            ),
            played(
                "a reader that is slow",
                "reads all",
                "calls::streams::resuming::a_caller_that_takes_its_time_does_not_wait",
            ),
            played(
                "a reader that leaves",
                "resets the stream",
                "calls::streams::resuming::a_stream_that_is_dropped_is_reset_at_once",
            ),
            played(
                "a reader that never reads",
                "holds the stream for ever",
                "calls::streams::resuming::a_stream_that_is_left_alone_is_dropped",
            ),
            played(
                "a writer that sends while the stream is being opened, or closed",
                "loses what it wrote",
                "calls::streams::subscribing::every_line_is_said_until_it_is_heard",
            ),
        ],
    }
}

fn tokens() -> Section {
    let played = |behaviour, plain, name| row(behaviour, "`TokenEndpoint`", plain).test("C", name);
    Section {
        heading: "Token endpoints",
        about: "",
        second: "the kit's name",
        clients: "C",
        rows: vec![
            played("an error, as often as it is asked", "asks with each call", "calls::google::token_endpoints::an_endpoint_that_fails_is_asked_with_back_off_and_calls_fail_at_once")
                .test("C", "calls::google::token_endpoints::a_refresh_that_fails_or_hangs_delays_no_call_while_the_token_is_valid"),
            played("no reply", "waits for ever", "calls::google::token_endpoints::a_fetch_that_hangs_is_given_up_after_a_minute"),
            played("a token with a lifetime of 0", "asks with each call", "calls::google::token_endpoints::tokens_without_a_lifetime_are_used_for_a_second"),
            played("a fresh token that the server refuses", "fails until the token expires", "calls::google::token_endpoints::a_server_that_refuses_all_tokens_gets_each_call_twice_at_most"),
            played("a token that is refused for one method alone", "fails", "calls::google::token_endpoints::a_token_that_is_refused_for_one_method_is_refreshed_once_in_ten_seconds"),
        ],
    }
}

fn replies() -> Section {
    const JSON: &str = "protobuf says the type of each field";
    const TYPED: &str = "its replies are messages of the caller's types";
    let typed = |row: Row| row.no("BP", TYPED);
    Section {
        heading: "Replies with the right status and the wrong content",
        about: "",
        second: "where it comes from",
        clients: "RBOP",
        rows: vec![
            row("fewer or more results than a batch had", "a server that drops what it does not understand", "gives results to the wrong callers")
                .test("B", "calls::google::batching::each_caller_has_the_ids_of_its_messages_or_an_error")
                .test("R", "calls::rest::whole_calls::elements_are_sent_in_batches")
                .no("OP", "they have no batches"),
            typed(row("an operation that is done, with neither a response nor an error", "servers of operations without a result", "takes it for a success")
                .test("O", "calls::long_running::ends::done_with_nothing_is_an_error_of_its_own")
                .test("R", "faults::misbehaviours::replies::operations_over_rest")),
            typed(row("metadata of another type", "another version of the API", "fails")
                .test("O", "calls::long_running::ends::metadata_of_another_type_is_missing_and_the_result_stands")
                .test("R", "faults::misbehaviours::replies::operations_over_rest")),
            typed(row("an `Any` of an unknown type", "another version of the API", "fails")
                .test("O", "calls::long_running::ends::a_response_of_another_type_is_an_error_and_the_metadata_is_readable")
                .test("R", "calls::rest::whole_calls::one_operation_of_an_unknown_type_does_not_hide_the_others")),
            typed(row("an empty `Any`", "a server that says nothing", "fails")
                .test("O", "calls::long_running::progress::an_empty_response_may_be_missing")
                .test("R", "faults::misbehaviours::replies::operations_over_rest")),
            row("`error` as an ordinary field", "an API with such a field", "takes a message for an error")
                .test("R", "calls::rest::streams::a_field_error_in_a_message_is_no_error")
                .no("BOP", JSON),
            row("an unknown enum value, an unknown field", "a later version of the API", "fails")
                .test("R", "calls::rest::types::replies_that_are_too_deep_are_refused_and_unknown_ones_skipped")
                .no("BOP", "prost keeps the number of an enum value, and skips unknown fields"),
            row("a page token that repeats", "a server that ignores the token", "never ends")
                .test("P", "calls::paging::circles::a_token_that_follows_itself")
                .test("P", "calls::paging::circles::two_tokens_in_turn")
                .no("R", "its pages are those of P")
                .no("BO", "they have no pages"),
            row("an empty page with a token", "a server that filters behind its limit", "ends too early")
                .test("P", "calls::paging::list::an_empty_page_with_a_token_goes_on")
                .no("R", "its pages are those of P")
                .no("BO", "they have no pages"),
        ],
    }
}

fn machine() -> Section {
    const FILES: &str = "they write no files";
    let files = |behaviour, plain| row(behaviour, "the file system", plain).no("LGKHRSCBP", FILES);
    Section {
        heading: "The machine",
        about: "",
        second: "where it comes from",
        clients: ALL,
        rows: vec![
            files("a full disk", "leaves a part of the file").test("T", "faults::misbehaviours::machine::a_full_disk_is_an_error_of_the_target").no("O", FILES),
            files("a read-only folder", "downloads all, and fails then")
                .test("T", "http::transfers::downloads::a_target_that_can_not_be_written_is_noticed_before_anything_is_sent")
                .test("T", "http::transfers::state_files::a_state_file_that_can_not_be_read_or_written_is_an_error")
                .no("O", FILES),
            files("a target that is a link, or readable by its owner alone", "replaces the link, and shows the file to all")
                .test("T", "http::transfers::part_files::the_target_keeps_its_permissions_and_its_links")
                .no("O", FILES),
            files("a target that is a folder", "downloads all, and fails then")
                .test("T", "http::transfers::downloads::a_name_that_can_not_be_had_loses_no_bytes")
                .no("O", FILES),
            files("two or three processes with one target", "mixes the bytes of both")
                .test("T", "http::transfers::downloads::one_download_at_a_time_writes_a_file")
                .test("T", "http::transfers::state_files::two_uploads_with_one_state_file_make_the_object")
                .no("O", FILES),
            files("`kill -9` at any byte, then another program at the same path", "begins anew, or goes on with other bytes")
                .test("T", "http::transfers::trials::kills::a_download_survives")
                .test("T", "http::transfers::trials::kills::an_upload_by_cloud_storage_s_protocol_survives")
                .test("T", "http::transfers::part_files::a_part_that_somebody_replaced_is_not_written")
                .test("O", "calls::long_running::restarts::an_operation_that_a_killed_process_has_started_is_finished_by_name_in_another"),
            row("a clock that jumps", "NTP, a machine that slept", "waits too long, or not at all")
                .test("H", "faults::misbehaviours::proxies::replies_to_http_requests")
                .test("R", "faults::misbehaviours::proxies::replies_to_rest_calls")
                .test("T", UPLOADS)
                .no("LGKSCBOP", "dates in `Retry-After` alone are compared with the time of day"),
            row("a runtime that is dropped while calls wait", "a program that ends, or has several", "waits for ever")
                .test(ALL, "faults::misbehaviours::machine::a_runtime_that_is_dropped_while_calls_wait")
                .test("K", "sockets::connections::faults::a_connection_outlives_its_runtime"),
            row("a call outside a runtime", "a thread of its own, a test", "panics")
                .test(ALL, "faults::misbehaviours::machine::calls_outside_a_runtime_say_so"),
            row("a callback that panics", "the program", "ends the task of all")
                .test("LG", "observing::panics::an_observer_that_panics_in_every_method_changes_no_call_and_no_other_observer_notices")
                .test("H", "observing::panics::an_http_request_has_its_response_though_its_observer_panics")
                .test("S", "observing::panics::a_stream_is_read_to_its_end_or_dropped_though_its_observer_panics")
                .test("S", "calls::streams::resuming::a_panic_of_a_strategy_is_its_callers")
                .test("K", "sockets::connections::faults::a_resolver_that_fails_or_panics_is_asked_again")
                .test("K", "sockets::connections::faults::a_connector_that_panics_fails_calls_until_it_connects")
                .test("K", "sockets::connections::faults::an_observer_that_panics_changes_nothing")
                .test("C", "calls::google::credentials::a_source_that_panics_fails_the_calls_that_wait_and_is_asked_again")
                .test("B", "chaos::batches::each_element_ends_once_with_the_result_of_its_batch")
                .test("TROP", "faults::misbehaviours::machine::callbacks_that_panic"),
            row("a callback that blocks, or calls back", "the program", "waits for itself")
                .test(ALL, "faults::misbehaviours::machine::callbacks_that_block_or_call_back"),
        ],
    }
}
