//! Endpoints whose health is checked.

use super::network::{Network, Server, call, error, milliseconds, now, pass, ready, reply};
use crate::{Connection, Picker};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const SERVING: &[u8] = &[8, 1];
const NOT_SERVING: &[u8] = &[8, 2];
const KIND: [(&str, &str); 1] = [("content-type", "application/grpc")];

/// A connection, its server, and the stream of its health check.
async fn checked(network: &mut Network) -> (Connection, Server, u32) {
    let connection = network.connection().health_check("library").connect_lazy().unwrap();
    let connecting = ready(&connection);
    let mut server = network.server().await;
    let check = server.request().await;
    assert!(network.is_quiet(100 * SECOND).await, "it has streams, once it is well");
    assert!(!connecting.is_finished(), "nobody knows its health yet");
    connecting.abort();
    (connection, server, check)
}

/// The first word of a health check.
async fn say_serving(server: &mut Server, check: u32) {
    server.respond(check, &KIND).await;
    server.message(check, SERVING).await;
}

async fn assert_is_up(connection: &Connection, server: &mut Server) {
    let calling = call(connection);
    server.serve().await;
    assert!(reply(calling).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn calls_go_to_a_server_while_it_says_that_the_service_is_up() {
    let mut network = Network::new(&[1]);
    let (connection, mut server, check) = checked(&mut network).await;
    let waiting = call(&connection);
    say_serving(&mut server, check).await;
    server.serve().await;
    assert!(reply(waiting).await.is_ok());
    server.message(check, NOT_SERVING).await;
    pass(milliseconds(1)).await;
    let text = error(call(&connection)).await;
    assert!(text.contains("the server says that the service is not up"), "{text}");
    assert!(network.is_quiet(100 * SECOND).await, "another connection would be no better");
    server.message(check, SERVING).await;
    pass(milliseconds(1)).await;
    assert_is_up(&connection, &mut server).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_knows_no_health_is_healthy() {
    let mut network = Network::new(&[1]);
    let (connection, mut server, check) = checked(&mut network).await;
    server.refuse(check, "12").await;
    pass(milliseconds(1)).await;
    assert_is_up(&connection, &mut server).await;
    pass(100 * SECOND).await;
    assert_is_up(&connection, &mut server).await;
    assert_eq!(network.events(), ["1 ready"]);
}

/// A check without a response is repeated after the back-off, which grows.
#[tokio::test(start_paused = true)]
async fn calls_fail_where_the_check_does() {
    let mut network = Network::new(&[1]);
    let (connection, mut server, mut check) = checked(&mut network).await;
    let waiting = call(&connection);
    server.refuse(check, "7").await;
    let text = error(waiting).await;
    assert!(text.contains("the health check failed"), "{text}");
    check = server.request().await;
    for (least, most) in [(80, 121), (800, 1201)] {
        let start = now();
        server.refuse(check, "7").await;
        check = server.request().await;
        let time = now() - start;
        assert!(time >= milliseconds(least) && time <= milliseconds(most), "{time:?}");
    }
}

/// Calls wait for a second, as a proxy may have ended it, and fail then.
#[tokio::test(start_paused = true)]
async fn a_check_that_ends_after_a_response_is_repeated_soon() {
    let mut network = Network::new(&[1]);
    let (connection, mut server, check) = checked(&mut network).await;
    say_serving(&mut server, check).await;
    pass(milliseconds(1)).await;
    assert_is_up(&connection, &mut server).await;
    let start = now();
    server.end(check, "0").await;
    let again = server.request().await;
    assert!(now() - start <= milliseconds(101));
    let waiting = call(&connection);
    say_serving(&mut server, again).await;
    server.serve().await;
    assert!(reply(waiting).await.is_ok());
    pass(2 * SECOND).await;
    assert_is_up(&connection, &mut server).await;
    // The next one has no reply.
    let start = now();
    server.end(again, "14").await;
    let silent = server.request().await;
    let text = error(call(&connection)).await;
    assert!(text.contains("the health check has no reply"), "{text}");
    let time = now() - start;
    assert!(time >= SECOND && time < milliseconds(1210), "{time:?}");
    say_serving(&mut server, silent).await;
    pass(milliseconds(1)).await;
    assert_is_up(&connection, &mut server).await;
    // One that was down stays so while it is asked again.
    server.message(silent, NOT_SERVING).await;
    pass(milliseconds(1)).await;
    server.end(silent, "0").await;
    assert!(error(call(&connection)).await.contains("is not up"));
}

/// It responded at least, so that the next check comes soon again.
#[tokio::test(start_paused = true)]
async fn checks_with_a_response_are_a_tenth_of_a_second_apart() {
    let mut network = Network::new(&[1]);
    let (_connection, mut server, mut check) = checked(&mut network).await;
    let start = now();
    for _ in 0..10 {
        say_serving(&mut server, check).await;
        server.end(check, "0").await;
        check = server.request().await;
    }
    let time = now() - start;
    assert!(time >= milliseconds(900) && time <= milliseconds(1011), "{time:?}");
}

/// Its health is asked for over the next connection, and its streams are for calls too.
#[tokio::test(start_paused = true)]
async fn each_connection_in_turn_asks() {
    let mut network = Network::new(&[1]);
    let (connection, mut server, check) = checked(&mut network).await;
    say_serving(&mut server, check).await;
    pass(milliseconds(1)).await;
    assert_is_up(&connection, &mut server).await;
    drop(server);
    pass(milliseconds(1)).await;
    let waiting = call(&connection);
    let mut server = network.server().await;
    let check = server.request().await;
    assert!(tokio::time::timeout(10 * SECOND, server.request()).await.is_err(), "the call waits");
    server.refuse(check, "12").await;
    server.serve().await;
    assert!(reply(waiting).await.is_ok());
}

/// The old one has heard nothing about the new one.
#[tokio::test(start_paused = true)]
async fn a_connection_that_replaces_one_that_is_too_old_asks_too() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().health_check("library").max_age(10 * SECOND);
    let connection = connection.connect_lazy().unwrap();
    let connecting = ready(&connection);
    let mut old = network.server().await;
    let check = old.request().await;
    say_serving(&mut old, check).await;
    connecting.await.unwrap().unwrap();
    pass(12 * SECOND).await;
    let waiting = call(&connection);
    let mut server = network.server().await;
    let check = server.request().await;
    assert!(tokio::time::timeout(5 * SECOND, server.request()).await.is_err(), "the call waits");
    server.refuse(check, "12").await;
    server.serve().await;
    assert!(reply(waiting).await.is_ok());
}

/// A check takes a stream as calls do: behind it there is none for a call.
#[tokio::test(start_paused = true)]
async fn a_check_takes_a_stream() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().health_check("").connect_lazy().unwrap();
    let waiting = call(&connection);
    let mut server = network.dialed().await;
    server.open(Some(1)).await;
    let check = server.request().await;
    say_serving(&mut server, check).await;
    let mut other = network.server().await;
    other.serve().await;
    assert!(reply(waiting).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn calls_go_past_an_endpoint_that_is_not_well() {
    let mut network = Network::new(&[1, 2]);
    let connection = network.connection().picker(Picker::RoundRobin).health_check("");
    let connection = connection.connect_lazy().unwrap();
    let connecting = ready(&connection);
    let (mut one, mut other) = (network.server().await, network.server().await);
    let checks = [one.request().await, other.request().await];
    one.respond(checks[0], &KIND).await;
    one.message(checks[0], NOT_SERVING).await;
    other.refuse(checks[1], "12").await;
    connecting.await.unwrap().unwrap();
    for _ in 0..4 {
        assert_is_up(&connection, &mut other).await;
    }
}
