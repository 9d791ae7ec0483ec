//! Connections to servers that don't say a word.

use super::network::{Network, Server, call, call_within, connected, milliseconds, pass, reply, settle};
use crate::{ConnectBackoff, Connection};
use std::time::Duration;

const LOST: &str = "1 lost: silent";

/// How many calls, each of a tenth of a second, it takes until the connection is given up.
async fn calls_until_it_is_lost(network: &Network, connection: &Connection) -> usize {
    for calls in 1..100 {
        assert!(call_within(connection, 100, 100).await.is_none());
        settle().await;
        if network.events().contains(&LOST.to_owned()) {
            return calls;
        }
    }
    100
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_dropped_as_their_time_is_up_say_that_the_server_is_silent() {
    for (time, is_lost) in [(50, false), (94, false), (95, true), (100, true)] {
        let mut network = Network::new(&[1]);
        let connection = network.connection().connect_lazy().unwrap();
        let server = connected(&mut network, &connection).await;
        for _ in 0..2 {
            assert!(call_within(&connection, 100, time).await.is_none());
        }
        settle().await;
        assert_eq!(network.events().contains(&LOST.to_owned()), is_lost, "dropped after {time} ms");
        drop(server);
    }
}

/// It was there for a moment of their time.
#[tokio::test(start_paused = true)]
async fn calls_that_waited_for_a_connection_say_nothing_of_it() {
    for (late, is_lost) in [(60, false), (40, true)] {
        let mut network = Network::new(&[1]);
        let connection = network.connection().connect_lazy().unwrap();
        let calls = [(); 2].map(|()| {
            let connection = connection.clone();
            tokio::spawn(async move { call_within(&connection, 100, 100).await.is_none() })
        });
        let mut server = network.dialed().await;
        pass(milliseconds(late)).await;
        server.open(None).await;
        for call in calls {
            assert!(call.await.unwrap());
        }
        settle().await;
        assert_eq!(network.events().contains(&LOST.to_owned()), is_lost, "after {late} ms");
    }
}

/// A call that has its response, and one without a timeout.
#[tokio::test(start_paused = true)]
async fn other_calls_say_nothing() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let calling = call(&connection);
    let mut server = network.server().await;
    let stream = server.request().await;
    server.respond(stream, &[]).await;
    let response = reply(calling).await.unwrap();
    for _ in 0..3 {
        let calling = call(&connection);
        server.request().await;
        pass(milliseconds(200)).await;
        calling.abort();
        server.reset().await;
    }
    drop(response);
    pass(milliseconds(1)).await;
    assert_eq!(network.events(), ["1 ready"]);
}

#[tokio::test(start_paused = true)]
async fn a_byte_from_the_server_begins_the_count_anew() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let mut server = connected(&mut network, &connection).await;
    assert!(call_within(&connection, 100, 100).await.is_none());
    server.murmur().await;
    settle().await;
    assert!(call_within(&connection, 100, 100).await.is_none());
    // One that began before the byte came says nothing either.
    let late = tokio::spawn({
        let connection = connection.clone();
        async move { call_within(&connection, 350, 350).await.is_none() }
    });
    pass(milliseconds(10)).await;
    server.murmur().await;
    pass(milliseconds(10)).await;
    assert!(call_within(&connection, 100, 100).await.is_none());
    assert!(late.await.unwrap());
    assert!(call_within(&connection, 100, 100).await.is_none());
    pass(milliseconds(1)).await;
    assert_eq!(network.events(), ["1 ready"]);
    assert_eq!(calls_until_it_is_lost(&network, &connection).await, 1);
}

/// It would wait for ever to say goodbye.
#[tokio::test(start_paused = true)]
async fn a_connection_to_a_dead_server_is_closed_with_its_last_call() {
    let mut network = Network::new(&[1]);
    let connection = network.connection().connect_lazy().unwrap();
    let mut server = connected(&mut network, &connection).await;
    let other = call(&connection);
    server.request().await;
    server.stick();
    for _ in 0..2 {
        assert!(call_within(&connection, 100, 100).await.is_none());
    }
    settle().await;
    assert_eq!(network.events(), ["1 ready", LOST]);
    assert!(tokio::time::timeout(milliseconds(1000), server.closed()).await.is_err(), "a call is left");
    other.abort();
    server.closed().await;
}

/// The server may be only slow.
#[tokio::test(start_paused = true)]
async fn each_connection_in_a_row_is_given_up_later_unless_the_one_before_was_of_use_or_old() {
    let mut network = Network::new(&[1]);
    let backoff = ConnectBackoff::default().max(Duration::from_secs(3));
    let connection = network.connection().connect_backoff(backoff).connect_lazy().unwrap();
    let mut servers: Vec<Server> = Vec::new();
    let mut counts = Vec::new();
    for number in 0..9 {
        servers.push(connected(&mut network, &connection).await);
        match number {
            3 => {
                let calling = call(&connection);
                let server = &mut servers[3];
                server.serve().await;
                drop(reply(calling).await.unwrap());
            }
            // Exactly as old as the longest back-off at the end of its second call, and a little older.
            5 => pass(milliseconds(2800)).await,
            7 => pass(milliseconds(2801)).await,
            _ => {}
        }
        counts.push(calls_until_it_is_lost(&network, &connection).await);
    }
    assert_eq!(counts, [2, 10, 16, 26, 10, 2, 26, 2, 10]);
}
