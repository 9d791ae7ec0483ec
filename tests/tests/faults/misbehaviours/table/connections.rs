//! The rows of connections: how they end, what limits them, and where they lead.

use crate::faults::misbehaviours::row::{ALL, Row, Section, row};
use crate::faults::misbehaviours::stage::Step::{Always, LeadsNowhere, Next, Now, Wait};
use crate::faults::misbehaviours::stage::Trouble;
use bytes::Bytes;
use gax_testing::Direction;
use tonic_gax_tests::{ConnectionFault as Fault, When, ms};

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

pub(super) fn orderly() -> Section {
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

pub(super) fn disorderly() -> Section {
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

pub(super) fn limits() -> Section {
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

pub(super) fn resolvers() -> Section {
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
