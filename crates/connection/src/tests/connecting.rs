//! How connections are made.

use super::network::{Network, call, connected, error, milliseconds, now, pass, ready, reply, settle, soon};
use std::io::ErrorKind;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The error of a call to a server that says no more than that, and how long it takes.
async fn error_after(text: &[u8]) -> (String, Duration) {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let start = now();
    let calling = call(&connection);
    let mut server = network.dialed().await;
    server.say(text).await;
    (error(calling).await, now() - start)
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_heard_of_in_time_is_given_up() {
    let (text, time) = error_after(b"").await;
    assert!(text.contains("no byte came from the server within the connect timeout"), "{text}");
    assert!(time >= 20 * SECOND && time < 21 * SECOND, "{time:?}");
    let (text, time) = error_after(&[0, 0]).await;
    assert!(text.contains("no SETTINGS frame came from the server within the connect timeout"), "{text}");
    assert!(time >= 20 * SECOND && time < 21 * SECOND, "{time:?}");

    let network = Network::new(&[1]);
    network.be_slow();
    let connection = network.connection().connect_timeout(5 * SECOND).connect_lazy().unwrap();
    let start = now();
    let text = error(call(&connection)).await;
    assert!(text.contains("no connection was made within the connect timeout"), "{text}");
    assert!(now() - start >= 5 * SECOND && now() - start < 6 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_speaks_another_protocol_is_named() {
    let (text, time) = error_after(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert!(text.contains("the server speaks HTTP/1, not HTTP/2"), "{text}");
    assert!(time < SECOND);
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let calling = call(&connection);
    drop(network.dialed().await);
    let text = error(calling).await;
    assert!(text.contains("connection") && !text.contains("speaks"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_addresses_that_are_tried_are_those_that_the_resolver_names_now() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().wait_for_ready(true).connect_lazy().unwrap();
    let calling = call(&connection);
    let server = network.dialed().await;
    network.resolve_to(&[2]);
    network.announce();
    let start = now();
    let mut other = network.server().await;
    assert_eq!(other.port, 2);
    assert!(now() - start < SECOND, "nobody waits for the one that is gone");
    other.serve().await;
    assert!(reply(calling).await.is_ok());
    drop(server);
}

/// The first one that responds is used, and a failure is no reason to wait.
#[tokio::test(start_paused = true)]
async fn the_next_address_is_tried_a_moment_later_or_as_soon_as_one_has_failed() {
    let mut network = Network::new(&[1, 2, 3, 4]);
    network.refuse(&[2]);
    let connection = network.connection().connect_lazy().unwrap();
    let start = now();
    let connecting = ready(&connection);
    let silent = network.dialed().await;
    let third = network.dialed().await;
    assert_eq!((silent.port, third.port, now() - start), (1, 3, milliseconds(250)));
    let mut fourth = network.dialed().await;
    assert_eq!((fourth.port, now() - start), (4, milliseconds(500)));
    fourth.open(None).await;
    soon(connecting).await.unwrap().unwrap();
    assert_eq!(network.events(), ["4 ready"]);
    assert!(network.is_quiet(10 * SECOND).await);
}

/// All of them have failed: the error is that of the first.
#[tokio::test(start_paused = true)]
async fn a_connection_fails_as_its_first_address_does() {
    let mut network = Network::new(&[1, 2]);
    network.refuse(&[2]);
    let connection = network.connection().connect_lazy().unwrap();
    let calling = call(&connection);
    let mut server = network.dialed().await;
    server.say(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let text = error(calling).await;
    assert!(text.contains("the server speaks HTTP/1"), "{text}");
    assert!(network.events()[0].starts_with("1 failed"));
}

/// The system's own timeout is named by the setting that it comes from.
#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_says_why() {
    for (kind, is_named) in [(ErrorKind::TimedOut, true), (ErrorKind::ConnectionReset, false)] {
        let mut network = Network::new(&[1]);
        let connection = network.connection().connect_lazy().unwrap();
        let server = connected(&mut network, &connection).await;
        server.fail(kind);
        settle().await;
        assert_eq!(network.events(), ["1 ready", "1 lost: broken"]);
        let reasons = network.facts.reasons.lock().unwrap().join(" ");
        assert_eq!(reasons.contains("tcp_user_timeout"), is_named, "{reasons}");
    }
}

/// It has no more to say than the limit that the connection knows already.
#[tokio::test(start_paused = true)]
async fn a_server_may_lower_its_limit_of_streams() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let first = call(&connection);
    let mut server = network.dialed().await;
    server.open(Some(2)).await;
    let stream = server.request().await;
    server.limit(Some(1)).await;
    pass(milliseconds(1)).await;
    let calls = [call(&connection), call(&connection)];
    pass(milliseconds(1)).await;
    server.refuse(stream, "0").await;
    assert!(reply(first).await.is_ok());
    for call in calls {
        server.serve().await;
        assert!(reply(call).await.is_ok());
    }
}
