//! Replies of proxies to single requests: over HTTP as a program sees them, and over REST as its calls do.

use super::clients::{Client, Connector, http_client, rest_client};
use super::row::Cell;
use super::server::reply;
use super::table::sections;
use gax_http::ReplayBody;
use gax_testing::{HttpChange, HttpPeer, HttpReply, HttpScript};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use std::io::Write as _;
use tonic_gax::OperationOptions;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::GetRevisionRequest;
use tower_service::Service as _;

fn status(status: u16) -> HttpReply {
    HttpReply::status(status).with_body("")
}

/// The good reply to the calls.
fn good() -> HttpReply {
    HttpReply::status(200).with_header("content-type", "application/json").with_body(reply(0))
}

/// The replies by the names of their rows, how many requests get them, and the outcome of two calls over HTTP and over REST: the status, with a
/// question mark if the body is not the server's, or the code; and the requests that came.
#[rustfmt::skip]
fn rows() -> Vec<(&'static str, HttpReply, usize, &'static str, &'static str)> {
    let page = status(200).with_header("content-type", "text/html").with_body("<html>Log in</html>");
    let moved = |code| status(code).with_header("location", "http://other.test/v1/messages/0");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(reply(0).as_bytes()).unwrap();
    let coded = good().with_header("content-encoding", "gzip").with_body(gzip.finish().unwrap());
    let json = HttpChange::Set("content-type", "application/json".to_owned());
    let twice = HttpReply::Forward(vec![json, HttpChange::Body(reply(0).into()), HttpChange::Twice]);
    let after = |code, value| status(code).with_header("retry-after", value);
    vec![
        ("login page with 200", page.clone(), 1, "200? 200, 2", "Internal OK, 2"),
        ("login page with 200 for ever", page, usize::MAX, "200? 200?, 2", "Internal Internal, 2"),
        ("200, empty", status(200), 1, "200? 200, 2", "OK OK, 3"),
        ("202", status(202), 1, "202? 200, 2", "OK OK, 3"),
        ("204", status(204), 1, "204? 200, 2", "OK? OK, 2"),
        ("302 to another origin", moved(302), 1, "302? 200, 2", "Unknown OK, 2"),
        ("308 with Location", moved(308), 1, "308? 200, 2", "Unknown OK, 2"),
        ("gzip added unasked", coded, 1, "200? 200, 2", "OK OK, 2"),
        ("a duplicate response", twice, 1, "200 200, 2", "OK OK, 2"),
        ("421", status(421), 1, "421? 200, 2", "FailedPrecondition OK, 2"),
        ("429 with Retry-After of seconds", after(429, "1"), 1, "200 200, 3", "OK OK, 3"),
        ("503 with Retry-After of seconds", after(503, "1"), 1, "200 200, 3", "OK OK, 3"),
        ("503 with Retry-After of a date", after(503, "Wed, 21 Oct 2015 07:28:00 GMT"), 1, "200 200, 3", "OK OK, 3"),
        ("503 with Retry-After of garbage", after(503, "soon"), 1, "200 200, 3", "OK OK, 3"),
        ("503 with Retry-After of 3,600", after(503, "3600"), 1, "503? 200, 2", "Unavailable OK, 2"),
    ]
}

/// Before a server, a proxy that gives so many requests that reply.
fn proxy(reply: HttpReply, requests: usize) -> (HttpPeer, Connector) {
    let script = HttpScript::by(move |number, _| if number < requests { reply.clone() } else { good() });
    let (peer, pipes) = HttpPeer::in_memory(script);
    (peer, Connector::new(pipes))
}

/// The rows that the table says are played by that test.
fn named(test: &str) -> Vec<&'static str> {
    let rows = sections()
        .into_iter()
        .filter(|section| section.heading == "Proxies on the way")
        .flat_map(|section| section.rows);
    let is_played = |client| {
        move |cell: Cell| matches!(cell, Cell::Test(name) if name.ends_with(test)) && "HR".contains(client)
    };
    rows.filter(|row| "HR".chars().any(|client| row.of_client(client).any(is_played(client))))
        .map(|row| row.behaviour)
        .collect()
}

fn compare(test: &str, seen: Vec<(&'static str, String, &'static str)>) {
    assert_eq!(named(test), seen.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    let wrong: Vec<_> = seen.into_iter().filter(|(_, seen, expected)| seen != expected).collect();
    assert!(wrong.is_empty(), "row, seen, expected: {wrong:#?}");
}

#[tokio::test(start_paused = true)]
async fn replies_to_http_requests() {
    let mut seen = Vec::new();
    for (name, reply, times, expected, _) in rows() {
        let (peer, connector) = proxy(reply, times);
        let mut client = http_client(&connector, false);
        let mut ends = Vec::new();
        for _ in 0..2 {
            let request = http::Request::get("http://server.test/v1/messages/0").body(ReplayBody::default());
            ends.push(match client.call(request.unwrap()).await {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
                    let is_good = body.is_ok_and(|body| body == super::server::reply(0));
                    format!("{status}{}", if is_good { "" } else { "?" })
                }
                Err(error) => error.to_string(),
            });
        }
        seen.push((name, format!("{}, {}", ends.join(" "), peer.arrivals().len()), expected));
    }
    compare("replies_to_http_requests", seen);
}

#[tokio::test(start_paused = true)]
async fn replies_to_rest_calls() {
    let mut seen = Vec::new();
    for (name, reply, times, _, expected) in rows() {
        let (peer, connector) = proxy(reply, times);
        let client = rest_client(OperationOptions::new(), connector.hyper(false));
        let mut ends = Vec::new();
        for _ in 0..2 {
            let request = GetRevisionRequest { message_id: "0".to_owned(), ..GetRevisionRequest::default() };
            ends.push(match client.get_revision(request).await {
                Ok(message) => format!("OK{}", if message.into_inner().message_id == "0" { "" } else { "?" }),
                Err(status) => format!("{:?}", status.code()),
            });
        }
        seen.push((name, format!("{}, {}", ends.join(" "), peer.arrivals().len()), expected));
    }
    compare("replies_to_rest_calls", seen);
}

/// The proxy gets no request but `CONNECT`, and no credentials.
#[tokio::test(start_paused = true)]
async fn tunnels_that_are_refused() {
    for reply in [status(407), status(403), status(200).with_header("x-long", &"a".repeat(100_000))] {
        for client in [Client::Http1, Client::Rest1] {
            let (peer, connector) = proxy(reply.clone(), usize::MAX);
            let tunnel = Tunnel::new("http://proxy.test".parse().unwrap(), connector);
            let mut builder =
                hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new());
            builder.pool_max_idle_per_host(0);
            let error = if client == Client::Http1 {
                let mut client = super::clients::retrying(builder.build::<_, ReplayBody>(tunnel));
                let request =
                    http::Request::get("http://server.test/v1/messages/0").header("authorization", "secret");
                client
                    .call(request.body(ReplayBody::default()).unwrap())
                    .await
                    .map(drop)
                    .unwrap_err()
                    .to_string()
            } else {
                let request =
                    GetRevisionRequest { message_id: "0".to_owned(), ..GetRevisionRequest::default() };
                rest_client(OperationOptions::new(), builder.build(tunnel))
                    .get_revision(request)
                    .await
                    .unwrap_err()
                    .to_string()
            };
            let arrivals = peer.arrivals();
            assert!(
                !arrivals.is_empty() && arrivals.len() <= 300,
                "{client:?}: {} attempts: {error}",
                arrivals.len()
            );
            for arrival in arrivals {
                assert_eq!(
                    (arrival.method.as_str(), arrival.header("authorization")),
                    ("CONNECT", None),
                    "{error}"
                );
            }
        }
    }
}
