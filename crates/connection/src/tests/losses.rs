//! Connections that end, and what follows them.

use super::network::{
    Network, Server, call, call_within, connected, error, milliseconds, now, pass, ready, reply, settle,
};
use crate::ConnectBackoff;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Closed,
    Reset,
    Silent,
    TooOld,
}

/// The next connection's address, whether the resolver was asked for it, and how long it took to begin it.
async fn follow(has_served: bool, end: End) -> (u16, bool, Duration) {
    let mut network = Network::new(&[1, 2]);
    let age = (end == End::TooOld).then_some(milliseconds(500));
    let connection = network.connection().max_age(age).wait_for_ready(true).connect_lazy().unwrap();
    let mut server = connected(&mut network, &connection).await;
    assert_eq!(server.port, 1);
    if has_served {
        let calling = call(&connection);
        server.serve().await;
        drop(reply(calling).await.unwrap());
    }
    network.resolved();
    let _server = match end {
        End::Closed => {
            server.goaway(u32::MAX >> 1, 0, "").await;
            drop(server);
            None
        }
        End::Reset => {
            server.crash();
            None
        }
        End::Silent => {
            assert!(call_within(&connection, 100, 100).await.is_none());
            assert!(call_within(&connection, 100, 100).await.is_none());
            Some(server)
        }
        End::TooOld => {
            pass(milliseconds(600)).await;
            Some(server)
        }
    };
    settle().await;
    let start = now();
    let calling = call(&connection);
    let mut next = network.server().await;
    let time = now() - start;
    next.serve().await;
    assert!(reply(calling).await.is_ok());
    pass(10 * SECOND).await;
    (next.port, network.resolved() > 0, time)
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_connection_decides_what_follows_it() {
    let none = Duration::ZERO;
    assert_eq!(follow(true, End::Closed).await, (1, true, none));
    assert_eq!(follow(true, End::Reset).await, (2, true, none));
    assert_eq!(follow(true, End::Silent).await, (2, true, none));
    assert_eq!(follow(true, End::TooOld).await, (1, false, none));
    assert_eq!(follow(false, End::TooOld).await, (1, false, none));
    assert_eq!(follow(false, End::Silent).await, (2, true, none));
    for end in [End::Closed, End::Reset] {
        let (port, is_resolved, time) = follow(false, end).await;
        assert_eq!((port, is_resolved), (2, true));
        assert!(time >= milliseconds(39) && time <= milliseconds(61), "{time:?}");
    }
}

/// They fail once it is known that connections are of no use.
#[tokio::test(start_paused = true)]
async fn calls_fail_while_connections_are_lost_as_soon_as_they_are_made() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    drop(connected(&mut network, &connection).await);
    pass(milliseconds(1)).await;
    let text = error(call(&connection)).await;
    assert!(text.contains("the connection was lost as soon as it was made"), "{text}");
    network.close_next().await;
    pass(milliseconds(1)).await;
    let text = error(call(&connection)).await;
    assert!(text.contains("connections are lost as soon as they are made"), "{text}");
    assert!(ready(&connection).await.unwrap().is_err());
}

/// A call that such a connection gives back doesn't have the next one made before the back-off is over.
#[tokio::test(start_paused = true)]
async fn connections_that_are_lost_as_soon_as_they_are_made_are_not_made_in_a_loop() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let calling = call(&connection);
    network.close_next().await;
    let text = error(calling).await;
    assert!(text.contains("the connection was lost as soon as it was made"), "{text}");
    assert!(network.is_quiet(milliseconds(39)).await);

    let mut network = Network::new(&[1]);
    let connection = network.connection().wait_for_ready(true).connect_lazy().unwrap();
    let calling = call(&connection);
    let mut last = now();
    for longest in [0, 61, 121, 1201] {
        network.close_next().await;
        let wait = now() - last;
        assert!(
            wait <= milliseconds(longest) && wait >= milliseconds(longest * 2 / 3),
            "{wait:?}, {longest}"
        );
        last = now();
    }
    network.server().await.serve().await;
    assert!(reply(calling).await.is_ok());
}

/// As behind a server whose connections live shorter than its calls.
#[tokio::test(start_paused = true)]
async fn calls_wait_while_those_on_a_connection_that_ended_may_have_a_response_yet() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let (first, second) = (call(&connection), call(&connection));
    let (mut server, stream) = narrow(&mut network, 1).await;
    server.goaway(stream, 0, "").await;
    assert!(network.is_quiet(milliseconds(30)).await);
    server.respond(stream, &[]).await;
    drop(reply(first).await.unwrap());
    assert!(!network.is_quiet(milliseconds(10)).await, "it was of use: the next one is made now");
    second.abort();
}

/// The call that finds out that a connection takes no more calls has none made in its place either.
#[tokio::test(start_paused = true)]
async fn a_call_after_the_end_of_a_connection_waits_too() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let first = call(&connection);
    let mut server = network.server().await;
    let stream = server.request().await;
    server.goaway(stream, 0, "").await;
    settle().await;
    let second = call(&connection);
    assert!(network.is_quiet(milliseconds(30)).await);
    server.respond(stream, &[]).await;
    drop(reply(first).await.unwrap());
    network.server().await.serve().await;
    assert!(reply(second).await.is_ok());
}

/// The response of a connection that served before is no news of a younger one.
#[tokio::test(start_paused = true)]
async fn a_response_over_an_older_connection_shortens_no_back_off() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().max_connections(1).connect_lazy().unwrap();
    let calls = [call(&connection), call(&connection), call(&connection)];
    let (mut old, first) = narrow(&mut network, 2).await;
    let second = old.request().await;
    old.respond(first, &[]).await;
    pass(milliseconds(1)).await;
    old.goaway(second, 0, "").await;
    let (mut young, stream) = narrow(&mut network, 1).await;
    let waiting = call(&connection);
    pass(milliseconds(1)).await;
    young.goaway(stream, 0, "").await;
    pass(milliseconds(1)).await;
    old.respond(second, &[]).await;
    assert!(network.is_quiet(milliseconds(30)).await);
    let mut next = network.server().await;
    next.serve().await;
    assert!(reply(waiting).await.is_ok());
    drop((calls, old, young));
}

/// A server with that limit of streams, and the stream of its first request.
async fn narrow(network: &mut Network, max_streams: u32) -> (Server, u32) {
    let mut server = network.dialed().await;
    server.open(Some(max_streams)).await;
    let stream = server.request().await;
    (server, stream)
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_refused_is_tried_again_after_the_back_off_with_addresses_that_are_asked_for() {
    let mut network = Network::new(&[1]);
    network.refuse(&[1]);
    let backoff = ConnectBackoff::default().initial(10 * SECOND);
    let connection = network.connection().connect_backoff(backoff).connect_lazy().unwrap();
    let text = error(call(&connection)).await;
    assert!(text.contains("refused"), "{text}");
    assert_eq!(network.resolved(), 1);
    pass(2 * SECOND).await;
    assert_eq!(network.resolved(), 1);
    network.refuse(&[]);
    assert!(error(call(&connection)).await.contains("refused"), "it still waits");
    network.server().await;
}

/// As soon as the program says that the network is back.
#[tokio::test(start_paused = true)]
async fn reconnect_ends_the_back_off() {
    let mut network = Network::new(&[1]);
    network.refuse(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    assert!(ready(&connection).await.unwrap().is_err());
    pass(100 * SECOND).await;
    network.refuse(&[]);
    network.resolved();
    let start = now();
    connection.reconnect();
    let mut server = network.server().await;
    assert!(now() - start < milliseconds(1));
    settle().await;
    let calling = call(&connection);
    server.serve().await;
    assert!(reply(calling).await.is_ok());
    // It has no connection any longer to be made.
    connection.reconnect();
    assert!(network.is_quiet(SECOND).await);
    assert!(network.resolved() > 0);
}

/// Addresses that are new are tried at once.
#[tokio::test(start_paused = true)]
async fn new_addresses_end_the_back_off() {
    let mut network = Network::new(&[1]);
    network.refuse(&[1]);
    let backoff = ConnectBackoff::default().initial(100 * SECOND);
    let connection = network.connection().connect_backoff(backoff).connect_lazy().unwrap();
    assert!(ready(&connection).await.unwrap().is_err());
    network.resolve_to(&[1, 2]);
    let start = now();
    assert_eq!(network.server().await.port, 2);
    assert!(now() - start < 2 * SECOND);
}
